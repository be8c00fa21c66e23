"""The program's errors, beside those of `deepspeech.util.errors`. Every message is one line for a person."""

from .util.errors import AlphabetError, AudioError, CorpusError, DeepSpeechError, FeatureCacheError, FeatureError

__all__ = [
    "AlphabetError",
    "AudioError",
    "CheckpointError",
    "CorpusError",
    "DecoderError",
    "DeepSpeechError",
    "FeatureCacheError",
    "FeatureError",
    "FlagError",
    "TrainingError",
]


class FlagError(DeepSpeechError):
    """A command-line flag is unknown or has a value that makes no sense; the message names the flag."""


class CheckpointError(DeepSpeechError):
    """A checkpoint is missing, does not fit the model, or cannot be written."""


class TrainingError(DeepSpeechError):
    """Training cannot go on, for example because a loss is not finite."""


class DecoderError(DeepSpeechError):
    """The decoder was given posteriors, options or language-model files that it cannot use."""
