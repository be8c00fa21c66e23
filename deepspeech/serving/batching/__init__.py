"""Many utterances at once: streams of threads that share a model, and whole recordings."""
