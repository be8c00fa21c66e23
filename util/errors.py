"""The errors of this project. Each message is one line: what was wrong, where, and what to do about it.

    DeepSpeechError               every error that a person meets; a command prints it and exits with code 1
    ├── FlagError                 the command line
    ├── PythonFileError           a Python file that it names
    ├── ParametersError           a params.txt
    ├── NetworkError              a network that it names
    ├── AlphabetError             what training reads
    ├── AudioError                a RuntimeError, too, as all that using a model raises
    │   └── AugmentationError     of a recording that is mixed into others
    ├── CorpusError               with its BadRows
    ├── FeatureError              a RuntimeError, too
    ├── FeatureCacheError
    ├── StorageError              what is at an address, not on this machine
    ├── ImportingError            where a corpus comes from
    ├── GrammarError
    ├── LanguageModelError        building and tuning a language model
    ├── TrainingError             training itself
    ├── ClusterError
    ├── CheckpointError           what it keeps and what is made of it
    ├── ExportError
    ├── DecoderError              from posteriors to text
    ├── AlignmentError            from posteriors and a text to times
    ├── GraphError                exported models; a RuntimeError, too
    ├── ModelError                their use; a RuntimeError, too
    ├── ServerError               serving them
    └── SamplesError              what they are given; a RuntimeError, too
        ├── SamplesTypeError      a TypeError, too
        └── SamplesShapeError     a ValueError, too

`deepspeech.errors` is their public name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DeepSpeechError(Exception):
    """Base of every error this project raises on purpose; the command line prints it and exits with code 1."""


class FlagError(DeepSpeechError):
    """A command-line flag is unknown, or its value cannot be used; the message names the flag."""


class AlphabetError(DeepSpeechError):
    """An alphabet file is malformed, or a text has a character that the alphabet lacks."""


class AudioError(DeepSpeechError, RuntimeError):
    """An audio file is missing, unreadable, truncated or empty."""


class AugmentationError(AudioError):
    """A recording that an augmentation mixes into utterances cannot be read; the message names the flag."""


@dataclass(frozen=True)
class BadRow:
    """A row of a corpus that cannot be trained on."""

    source: str
    """CSV file and line, as in "train.csv:12"."""
    reason: str
    transcript: str = ""
    """The transcript, if its characters are what is wrong."""

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


class CorpusError(DeepSpeechError):
    """A corpus CSV is missing or malformed, or has rows that cannot be trained on.

    With bad rows the message is more than one line: a headline, then a line for each.
    """

    def __init__(self, message: str, bad_rows: Sequence[BadRow] = ()) -> None:
        """Take the headline as `message`."""
        super().__init__("\n".join([message, *map(str, bad_rows)]))
        self.bad_rows = tuple(bad_rows)


class FeatureError(DeepSpeechError, RuntimeError):
    """No front end can work with these feature settings."""


class FeatureCacheError(DeepSpeechError):
    """A feature cache cannot be written or read."""


class StorageError(DeepSpeechError):
    """What is at an address, or a file beside a recording, cannot be read or written: no fault of what is stored.

    The message begins with the address, the recording or the flag.
    """


class PythonFileError(DeepSpeechError):
    """A Python file that was named on the command line cannot be run."""


class NetworkError(DeepSpeechError):
    """No network has a name that was given, or the layers of one cannot be computed."""


class ImportingError(DeepSpeechError):
    """A corpus cannot be imported: its recordings cannot be had, or are not what they should be."""


class GrammarError(DeepSpeechError):
    """A grammar file is missing or malformed, or has too few or too many sentences."""


class LanguageModelError(DeepSpeechError):
    """A language model cannot be built or tuned from the files that are given."""


class ParametersError(DeepSpeechError):
    """A file of parameters is missing or malformed; the message names the file and the line."""


class TrainingError(DeepSpeechError):
    """Training cannot go on, for example because a loss is not finite."""


class ClusterError(DeepSpeechError):
    """A node cannot take part in a cluster's training, or the training cannot go on."""


class CheckpointError(DeepSpeechError):
    """A checkpoint is missing, does not fit the model, or cannot be written."""


class ExportError(DeepSpeechError):
    """An exported model cannot be written, or a folder is not an export that may be replaced."""


class DecoderError(DeepSpeechError):
    """The decoder was given posteriors, options or language-model files that it cannot use."""


class AlignmentError(DeepSpeechError):
    """A transcript cannot be fitted to its recording."""


class GraphError(DeepSpeechError, RuntimeError):
    """A file is not an exported graph, or not one that can be run here."""


class ModelError(DeepSpeechError, RuntimeError):
    """A model or a stream was asked for what it cannot do; a RuntimeError, too, as DeepSpeech's package raises."""


class ServerError(DeepSpeechError):
    """Models cannot be served."""


class SamplesError(DeepSpeechError, RuntimeError):
    """Audio was given that is not a signal of 16-bit samples."""


class SamplesTypeError(SamplesError, TypeError):
    """Samples of another type than int16."""


class SamplesShapeError(SamplesError, ValueError):
    """Samples that are not one signal, or numbers that a signal does not have."""


def line_of(error: OSError) -> str:
    """Return an error of the operating system as one line: the file, where it names one, and the reason."""
    where = "" if error.filename is None else f"{error.filename}: "
    return " ".join(f"{where}{error.strerror or error}".split())
