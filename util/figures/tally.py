"""Figures of tested utterances: losses, errors, and wrong transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ..corpus_files import files_of, listing
from ..storage.copies import named_for_all
from .metrics import EditCounts, evaluate_transcript

LABELS_KEPT = 2
"""The most different labels that a tally holds: enough to distinguish speech from blanks and from a single letter."""

MOST_FILES = 100
"""The most lists of a set that are counted separately."""

_OF_A_FILE = ("utterances", "loss_sum", "edits")


@dataclass(frozen=True)
class Sample:
    """A wrongly transcribed utterance; `loss` is its CTC loss in nats."""

    wav: str
    transcript: str
    hypothesis: str
    loss: float
    edits: EditCounts


@dataclass(frozen=True)
class Tally:
    """Summed figures of some utterances; `edits` and `samples` are empty if nothing was decoded.

    `samples` are the wrongly transcribed utterances of lowest loss, lowest first. `labels_emitted` are the lowest
    LABELS_KEPT different labels of the utterances' best paths, without the blank; it stays empty in training. `files`,
    if counted, are the figures of each CSV file of the set, in the order of the files and without samples.
    `validation_edits`, if counted, are the errors of validation without a language model.
    """

    utterances: int = 0
    loss_sum: float = 0.0
    edits: EditCounts = field(default_factory=EditCounts)
    samples: tuple[Sample, ...] = ()
    labels_emitted: tuple[int, ...] = ()
    files: tuple[Tally, ...] = ()
    validation_edits: EditCounts = field(default_factory=EditCounts)

    @property
    def mean_loss(self) -> float:
        """Mean CTC loss of an utterance in nats; not a number without utterances."""
        return self.loss_sum / self.utterances if self.utterances else float("nan")

    @property
    def output_varies(self) -> bool:
        """Whether the best paths hold at least two different labels, not only blanks or a single letter."""
        return len(self.labels_emitted) >= LABELS_KEPT

    @staticmethod
    def of_labels(labels: Iterable[int]) -> Tally:
        """Return a tally, without utterances, of the labels of best paths, in any order and with repetitions."""
        return Tally(labels_emitted=tuple(sorted(set(labels))[:LABELS_KEPT]))

    @staticmethod
    def of_utterance(wav: str, transcript: str, hypothesis: str, loss: float, file: int | None = None) -> Tally:
        """Return the figures of one utterance; `transcript` is what was said, `hypothesis` what was heard.

        `file` is the place of its CSV file, from 0, among those that are counted separately.
        """
        edits = evaluate_transcript(transcript, hypothesis)
        wrong = Sample(named_for_all(wav), transcript, hypothesis, loss, edits)
        files = () if file is None else (*[Tally()] * file, Tally(1, loss, edits))
        return Tally(1, loss, edits, (wrong,) if edits.character_edits else (), files=files)

    def merged(self, other: Tally, sample_count: int) -> Tally:
        """Return the sum of both tallies, with at most `sample_count` samples."""
        return Tally(
            utterances=self.utterances + other.utterances,
            loss_sum=self.loss_sum + other.loss_sum,
            edits=self.edits + other.edits,
            samples=lowest_loss(self.samples + other.samples, sample_count),
            labels_emitted=tuple(sorted({*self.labels_emitted, *other.labels_emitted})[:LABELS_KEPT]),
            files=tuple(one.merged(two, 0) for one, two in zip_longest(self.files, other.files, fillvalue=Tally())),
            validation_edits=self.validation_edits + other.validation_edits,
        )

    def to_json(self) -> dict[str, Any]:
        """Return a value for `json.dumps`."""
        files = [{name: asdict(file)[name] for name in _OF_A_FILE} for file in self.files]
        return asdict(self) | {"files": files}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Tally:
        """Return the tally that `to_json` wrote; raise KeyError or TypeError for anything else.

        Tallies of older versions are read, too: those without `labels_emitted` or `files`, and those in which
        validation counted the errors of best paths.
        """
        samples = tuple(Sample(**{**sample, "edits": EditCounts(**sample["edits"])}) for sample in value["samples"])
        figures, *files = (
            Tally(each["utterances"], each["loss_sum"], EditCounts(**each["edits"]))
            for each in (value, *value.get("files", ()))
        )
        labels = tuple(value.get("labels_emitted", ()))
        validation = EditCounts(**value.get("validation_edits", value.get("best_path_edits", {})))
        return replace(figures, samples=samples, labels_emitted=labels, files=tuple(files), validation_edits=validation)


def counted_files(lists: Sequence[Path]) -> list[str]:
    """Return the names of a set's lists to count separately; none for a single list, or for too many."""
    return [named_for_all(listing(path)) for path in lists] if 1 < len(lists) <= MOST_FILES else []


def places_of_files(lists: Sequence[Path]) -> dict[str, int]:
    """Return each file's place among `counted_files`; all shards of a range have the same place."""
    counted = lists if counted_files(lists) else ()
    return {str(file): place for place, path in enumerate(counted) for file in files_of(path)}


def lowest_loss(samples: Iterable[Sample], count: int) -> tuple[Sample, ...]:
    """Return the `count` samples of lowest loss, lowest first."""
    return tuple(sorted(samples, key=lambda sample: (sample.loss, sample.wav))[:count])
