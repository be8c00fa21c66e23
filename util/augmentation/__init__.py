"""Augmentation: random changes of utterances in training, different in every epoch."""
