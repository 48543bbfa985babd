"""Stage 7: tables, figures, one page, and the paper's numbers beside ours."""
