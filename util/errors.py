"""The project's errors. Each message is one line: what was wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DeepSpeechError(Exception):
    """Base of every error this project raises on purpose; the command line prints it and exits with code 1."""


class AlphabetError(DeepSpeechError):
    """An alphabet file is malformed, or a text has a character that the alphabet lacks."""


class AudioError(DeepSpeechError):
    """An audio file is missing, unreadable, truncated or empty."""


@dataclass(frozen=True)
class BadRow:
    """A row of a corpus that cannot be trained on."""

    source: str
    """CSV file and line, as in "train.csv:12"."""
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


class CorpusError(DeepSpeechError):
    """A corpus CSV is missing or malformed, or has rows that cannot be trained on.

    With bad rows the message is more than one line: a headline, then a line for each.
    """

    def __init__(self, message: str, bad_rows: Sequence[BadRow] = ()) -> None:
        """`message` is the headline."""
        super().__init__("\n".join([message, *map(str, bad_rows)]))
        self.bad_rows = tuple(bad_rows)


class FeatureError(DeepSpeechError):
    """Feature settings make no sense."""


class FeatureCacheError(DeepSpeechError):
    """A feature cache cannot be written or read."""


class PythonFileError(DeepSpeechError):
    """A Python file that was named on the command line cannot be run."""


class NetworkError(DeepSpeechError):
    """There is no network of a name, or its layers make no network that can be computed."""


class ImportingError(DeepSpeechError):
    """A corpus cannot be imported: its recordings cannot be had, or are not what they should be."""


class GrammarError(DeepSpeechError):
    """A grammar file is missing or malformed, or has too few or too many sentences."""


class LanguageModelError(DeepSpeechError):
    """A language model cannot be built or tuned from the files that are given."""


class ParametersError(DeepSpeechError):
    """A file of parameters is missing or malformed; the message names the file and the line."""
