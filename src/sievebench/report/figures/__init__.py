"""The figures of the report; only drawing them needs matplotlib."""
