"""An end-to-end CTC speech recognizer: train it on your own recordings, then serve it."""

__version__ = "1.0.0.dev0"
