"""The output of a training run for people: progress, reports in the log, and summaries for TensorBoard."""
