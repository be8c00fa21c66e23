"""The project's errors. Each message is one line: what was wrong, where, and what to do about it."""


class DeepSpeechError(Exception):
    """Base of every error this project raises on purpose; the command line prints it and exits with code 1."""


class AlphabetError(DeepSpeechError):
    """An alphabet file is malformed, or a text has a character that the alphabet lacks."""


class AudioError(DeepSpeechError):
    """An audio file is missing, unreadable, truncated or empty."""


class CorpusError(DeepSpeechError):
    """A corpus CSV is missing or malformed, or has rows that cannot be trained on."""


class FeatureCacheError(DeepSpeechError):
    """A feature cache cannot be written or read."""
