"""From the rows of any corpus to its CSVs: rows are read once, divided into sets, checked, cut and written.

A corpus of ten million rows takes no more memory than one of ten: rows wait on disk, never in a list.
"""
