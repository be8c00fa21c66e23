"""From the rows of a corpus to its CSVs: rows are read once, divided into sets, checked, cut and written.

Memory does not grow with the number of rows: rows wait on disk, never in a list.
"""
