"""Tables that do not fit into memory, read batch by batch."""
