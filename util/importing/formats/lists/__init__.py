"""Formats that list utterances one by one, as training reads them."""
