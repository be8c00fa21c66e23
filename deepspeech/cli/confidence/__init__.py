"""The command that calibrates confidences, and the flags for words with low confidence."""
