"""Augmentation: utterances changed at random while a network trains on them, differently in every epoch."""
