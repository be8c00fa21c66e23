"""The containers of recordings, as far as libsndfile leaves them to us."""
