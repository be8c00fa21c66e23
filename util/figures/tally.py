"""Figures of utterances that were tested: losses, errors, and the transcripts that were wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .metrics import EditCounts, evaluate_transcript

LABELS_KEPT = 2
"""The number of different labels that a tally holds: enough to tell speech from blanks and from one letter."""


@dataclass(frozen=True)
class Sample:
    """An utterance that was transcribed wrongly; `loss` is its CTC loss in nats."""

    wav: str
    transcript: str
    hypothesis: str
    loss: float
    edits: EditCounts


@dataclass(frozen=True)
class Tally:
    """Summed figures of some utterances; `edits` and `samples` stay empty where nothing was decoded.

    `samples` are the wrongly transcribed utterances of lowest loss, lowest first. `labels_emitted` are the lowest
    LABELS_KEPT different labels of the utterances' best paths, without the blank; it stays empty in training.
    """

    utterances: int = 0
    loss_sum: float = 0.0
    edits: EditCounts = field(default_factory=EditCounts)
    samples: tuple[Sample, ...] = ()
    labels_emitted: tuple[int, ...] = ()

    @property
    def mean_loss(self) -> float:
        """Mean CTC loss of an utterance in nats; not a number if there was none."""
        return self.loss_sum / self.utterances if self.utterances else float("nan")

    @property
    def output_varies(self) -> bool:
        """Whether the best paths hold at least two different labels, and not only blanks or one letter."""
        return len(self.labels_emitted) >= LABELS_KEPT

    @staticmethod
    def of_labels(labels: Iterable[int]) -> Tally:
        """Return a tally, without utterances, of the labels of best paths; they may come again and in any order."""
        return Tally(labels_emitted=tuple(sorted(set(labels))[:LABELS_KEPT]))

    @staticmethod
    def of_utterance(wav: str, transcript: str, hypothesis: str, loss: float) -> Tally:
        """Return the figures of one utterance; `transcript` is what was said, `hypothesis` what was heard."""
        edits = evaluate_transcript(transcript, hypothesis)
        wrong = Sample(wav, transcript, hypothesis, loss, edits)
        return Tally(1, loss, edits, (wrong,) if edits.character_edits else ())

    def merged(self, other: Tally, sample_count: int) -> Tally:
        """Return both tallies together, keeping `sample_count` samples."""
        return Tally(
            utterances=self.utterances + other.utterances,
            loss_sum=self.loss_sum + other.loss_sum,
            edits=self.edits + other.edits,
            samples=lowest_loss(self.samples + other.samples, sample_count),
            labels_emitted=tuple(sorted({*self.labels_emitted, *other.labels_emitted})[:LABELS_KEPT]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return a value for `json.dumps`."""
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Tally:
        """Return the tally that `to_json` wrote; raise KeyError or TypeError for anything else.

        Tallies of a time without `labels_emitted` are read, too.
        """
        samples = tuple(Sample(**{**sample, "edits": EditCounts(**sample["edits"])}) for sample in value["samples"])
        edits = EditCounts(**value["edits"])
        return Tally(value["utterances"], value["loss_sum"], edits, samples, tuple(value.get("labels_emitted", ())))


def lowest_loss(samples: Iterable[Sample], count: int) -> tuple[Sample, ...]:
    """Return the `count` samples of lowest loss, lowest first."""
    return tuple(sorted(samples, key=lambda sample: (sample.loss, sample.wav))[:count])
