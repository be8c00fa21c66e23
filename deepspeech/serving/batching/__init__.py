"""Many utterances at once: the streams of threads that share a model, and whole recordings."""
