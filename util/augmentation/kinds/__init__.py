"""The kinds of augmentations."""
