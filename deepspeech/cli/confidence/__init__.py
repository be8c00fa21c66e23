"""The command that makes confidences probabilities."""
