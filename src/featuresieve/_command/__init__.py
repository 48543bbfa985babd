"""What the commands do; nothing here prints.

The modules are imported one by one, so that a wrong file or column is reported before
torch is loaded. Needs pyarrow, the extra ``featuresieve[cli]``.
"""
