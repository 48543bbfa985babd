"""Tables that do not fit into memory, read batch by batch.

`Stream` is what a user says of one; `take_rows` reads it once and keeps a random sample
of its rows, all of them where they fit; `kept_batches` reads some columns of all rows.
"""
