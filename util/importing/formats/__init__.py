"""Formats of corpora: each module yields the records of a folder, as described in `pipeline/records.py`."""
