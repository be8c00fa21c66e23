"""Formats of corpora: each module yields the records that are in a folder, as `pipeline/records.py` describes them."""
