"""Transcripts as a list to train on: a row for each utterance whose words are all likely to be right."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from ...serving.alignment.utterances import utterances_of
from ...serving.batching.recordings import Recognized
from ...serving.transcripts import joined
from ...util.figures.counted import counted
from ...util.files.csv_lines import csv_writer
from ...util.transcripts import REPLACEMENT

COLUMNS = ("wav_filename", "transcript", "start", "duration", "confidence")


class TrainingList:
    """A list, as CSV, of the utterances without a word below a confidence, which it counts, too.

    Utterances whose bytes are no text are left out, whatever their confidence: no one says what stands for them.
    """

    def __init__(self, file: TextIO, least: float) -> None:
        """Write the columns' names to `file`; `least` is the confidence, from 0 to 1."""
        self._file = file
        self._writer = csv_writer(file)
        self._writer.writerow(COLUMNS)
        self._least = least
        self._listed: list[float] = []
        self._left_out: list[float] = []

    def add(self, recording: str, recognized: Recognized) -> None:
        """Write the rows of a recording, given by its path; an utterance ends with its part, half a minute at most."""
        for start, (best, *_) in recognized.parts:
            for utterance in utterances_of(joined([(start, best)])):
                begin, seconds = utterance.part.start, utterance.part.end - utterance.part.start
                if utterance.confidence < self._least or REPLACEMENT in utterance.text:
                    self._left_out.append(seconds)
                    continue
                self._listed.append(seconds)
                figures = f"{begin:.3f}", f"{seconds:.3f}", f"{utterance.confidence:.4f}"
                self._writer.writerow((Path(recording).absolute(), utterance.text, *figures))
        self._file.flush()

    def __str__(self) -> str:
        """Say how much of what was recognized is listed."""
        everything = [*self._listed, *self._left_out]
        share = f"listed {len(self._listed)} of {counted(len(everything), 'utterance')}"
        return f"{share}, {sum(self._listed) / 60:.1f} of {sum(everything) / 60:.1f} minutes"
