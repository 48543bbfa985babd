"""The colours of all pictures, of displays and of reports."""

# Okabe and Ito's palette, without the yellow, which is lost on white: blue, orange,
# green, pink, sky, amber, black.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
INK, PALE_INK, FAINT = "#262626", "#6E6E6E", "#D9D9D9"
