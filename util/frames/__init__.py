"""What becomes of a front end's frames before the network gets them: several stacked into one, and normalized."""
