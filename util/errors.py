"""The errors of this project. Each message is one line: what is wrong, where, and what to do.

    DeepSpeechError               every error for users; a command prints it and exits with code 1
    ├── FlagError                 the command line
    ├── PythonFileError           a Python file that a flag names
    ├── ParametersError           a params.txt
    ├── NetworkError              a network that a flag names
    ├── AlphabetError             an alphabet
    ├── AudioError                a recording; a RuntimeError, too, as are all errors of using a model
    │   └── AugmentationError     a recording that is mixed into others
    ├── CorpusError               a corpus, with its BadRows
    ├── FeatureError              features; a RuntimeError, too
    ├── FeatureCacheError         a cache of features
    ├── StorageError              files at addresses, not on this machine
    ├── ImportingError            importing a corpus
    ├── GrammarError              a grammar of sentences
    ├── LanguageModelError        building and tuning a language model
    ├── TrainingError             training itself
    ├── ClusterError              training on a cluster
    ├── CheckpointError           checkpoints
    ├── ExportError               exporting models
    ├── DecoderError              from posteriors to text
    ├── AlignmentError            from posteriors and a text to times
    ├── GraphError                exported models; a RuntimeError, too
    ├── ModelError                using models; a RuntimeError, too
    ├── ServerError               serving models
    └── SamplesError              the samples for a model; a RuntimeError, too
        ├── SamplesTypeError      a TypeError, too
        └── SamplesShapeError     a ValueError, too

`deepspeech.errors` is their public name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DeepSpeechError(Exception):
    """The base of every error that this project raises on purpose; commands print it and exit with code 1."""


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
    """The transcript, if its characters are the fault."""

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


class CorpusError(DeepSpeechError):
    """A corpus CSV is missing or malformed, or has rows that cannot be trained on.

    With bad rows the message has several lines: a headline, then a line for each row.
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
    """A file at an address, or beside a recording, cannot be read or written; its content is not at fault.

    The message begins with the address, the recording or the flag.
    """


class PythonFileError(DeepSpeechError):
    """A Python file that was named on the command line cannot be run."""


class NetworkError(DeepSpeechError):
    """No network has the given name, or the layers of a network cannot be computed."""


class ImportingError(DeepSpeechError):
    """A corpus cannot be imported: its recordings are unavailable or wrong."""


class OtherFormatError(ImportingError):
    """A folder does not have the format that was named."""


class GrammarError(DeepSpeechError):
    """A grammar file is missing or malformed, or has too few or too many sentences."""


class LanguageModelError(DeepSpeechError):
    """A language model cannot be built or tuned from the given files."""


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
    """A file is not an exported graph, or it cannot be run here."""


class ModelError(DeepSpeechError, RuntimeError):
    """A request that a model or a stream cannot fulfil; a RuntimeError, too, as in DeepSpeech's package."""


class ServerError(DeepSpeechError):
    """Models cannot be served."""


class SamplesError(DeepSpeechError, RuntimeError):
    """The given audio is not a signal of 16-bit samples."""


class SamplesTypeError(SamplesError, TypeError):
    """Samples of another type than int16."""


class SamplesShapeError(SamplesError, ValueError):
    """Samples that are not one signal, or numbers that are invalid for a signal."""


def line_of(error: OSError) -> str:
    """Return an error of the operating system as one line: the file, if it names one, and the reason."""
    where = "" if error.filename is None else f"{error.filename}: "
    return " ".join(f"{where}{error.strerror or error}".split())
