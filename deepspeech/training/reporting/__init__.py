"""What a person sees of a training run: progress, reports in the log, and summaries for TensorBoard."""
