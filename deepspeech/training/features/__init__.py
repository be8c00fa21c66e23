"""What training finds out about the features of its training set."""
