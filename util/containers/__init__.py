"""What the containers of recordings say of themselves, and libsndfile does not look at."""
