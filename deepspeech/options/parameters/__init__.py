"""The parameters that decide a run: written as text, read back into options, and compared between runs."""
