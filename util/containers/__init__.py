"""The containers of recordings: what libsndfile does not read or check."""
