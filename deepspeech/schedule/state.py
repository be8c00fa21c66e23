"""The progress of training, which is saved beside a checkpoint so that the same command continues where it stopped."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..options.training.epochs import LOSS, WER
from .jobs import EpochReport, SetName, Tally


def one_window(epoch: int) -> Sequence[int]:  # noqa: ARG001 - it is the same in every epoch
    """Return the first batches of the windows of a corpus that is read as a whole: one window."""
    return (0,)


@dataclass(frozen=True)
class Plan:
    """The batches of a set, of at most `batch_size` utterances.

    `fingerprint` is a digest of the corpus's content and order. `batching` describes how it is cut and shuffled, if it
    is. `starts` returns the first batch of each window of the corpus in an epoch; windows are read one after the other.
    """

    batch_count: int
    batch_size: int
    fingerprint: str
    batching: str = ""
    starts: Callable[[int], Sequence[int]] = field(default=one_window, compare=False, repr=False)


@dataclass(frozen=True)
class OpenEpoch:
    """An unfinished epoch over one set: the indices of the batches counted so far, and their tally."""

    set_name: SetName
    plan: Plan
    done: frozenset[int] = frozenset()
    tally: Tally = field(default_factory=Tally)


HISTORY_KEPT = 4000
"""Number of finished epochs, over any set, in the history: the newest ones."""


@dataclass(frozen=True)
class Figures:
    """The figures of a finished epoch: mean loss of an utterance in nats, and word error rate if counted."""

    set_name: SetName
    epoch: int
    loss: float
    wer: float | None = None

    @staticmethod
    def of(report: EpochReport) -> "Figures":
        """Return the figures of a report."""
        wer = report.edits.wer if report.edits else None
        return Figures(report.set_name, report.epoch, report.tally.mean_loss, wer)


@dataclass(frozen=True)
class TrainingState:
    """The progress of training.

    * `epoch` counts finished training epochs; the validation of the last one may still be open.
    * `target_epoch` is the epoch at which training ends, `requested_epoch` the value of `--epoch` that determines it.
    * `dev_losses` holds every validation's mean loss in nats, `dev_error_rates` its error rate if `best_by` is one.
    * `varied_validations` counts the validations since the output was last only blanks or one letter, or unknown.
    * `plateau_reductions` counts how often the learning rate was lowered because validation no longer improved.
    * `goes_back` marks a checkpoint whose validation showed a plateau: training goes on from the best one instead.
    * `history` holds the figures of the newest epochs over all sets, oldest first.
    * `train_set` and `dev_set` are the fingerprints of the sets that were last trained and validated on, empty if
      unknown; `dev_losses` are of `dev_set` alone.
    * `validates` is whether the newest run validates, `run_ended` whether it has also finished its test and export.
    """

    epoch: int = 0
    requested_epoch: int = 0
    target_epoch: int = 0
    dev_losses: tuple[float, ...] = ()
    dev_error_rates: tuple[float, ...] = ()
    best_by: str = LOSS
    varied_validations: int = 0
    stopped_early: bool = False
    plateau_reductions: int = 0
    goes_back: bool = False
    open_epoch: OpenEpoch | None = None
    history: tuple[Figures, ...] = ()
    train_set: str = ""
    dev_set: str = ""
    validates: bool = True
    run_ended: bool = True

    @property
    def dev_figures(self) -> tuple[float, ...]:
        """The figures by which the best checkpoint is chosen, one for each validation: loss in nats, or error rate."""
        return self.dev_losses if self.best_by == LOSS else self.dev_error_rates

    @property
    def newest_dev_figure(self) -> float:
        """The newest of `dev_figures`; infinite before the first validation."""
        return self.dev_figures[-1] if self.dev_figures else float("inf")

    def compares_with(self, other: "TrainingState") -> bool:
        """Return whether both states' validation figures are of the same kind and, if known, the same set."""
        return self.best_by == other.best_by and not (self.dev_set and other.dev_set and self.dev_set != other.dev_set)

    @property
    def trained_without_validation(self) -> bool:
        """Whether training went on after the newest validation, in a run that does not validate."""
        validated = [each.epoch + 1 for each in self.history if each.set_name is SetName.DEV]
        if self.validates or not validated:
            return False
        opened = self.open_epoch
        return self.epoch > validated[-1] or (
            opened is not None and opened.set_name is SetName.TRAIN and bool(opened.done)
        )

    def aimed_at(self, requested_epoch: int) -> "TrainingState":
        """Return this state in a run that has not ended, with the target of the flag `epoch`.

        The target is N epochs in all or, for -N, N more than are done. A run that was started with the same flag keeps
        its target until it has ended. With another target, training that stopped early goes on. The validations that
        stopped it are dropped, because they would stop it again after the next one. An epoch that was begun after the
        target does not go on.
        """
        unfinished = not self.run_ended or (self.epoch < self.target_epoch and not self.stopped_early)
        if requested_epoch == self.requested_epoch and (unfinished or requested_epoch >= 0):
            return replace(self, run_ended=False)
        target = requested_epoch if requested_epoch >= 0 else self.epoch - requested_epoch
        state = self._without_validations() if self.stopped_early else self
        opened = self.open_epoch
        if opened is not None and opened.set_name is SetName.TRAIN and self.epoch >= target:
            opened = None
        return replace(state, requested_epoch=requested_epoch, target_epoch=target, open_epoch=opened, run_ended=False)

    def as_beginning(self) -> "TrainingState":
        """Return this state, which another run has saved, as one that a new run begins with.

        Whether that run had ended does not matter: its target is none of the new run's, which adds its own epochs.
        """
        target = self.target_epoch if self.requested_epoch >= 0 else min(self.target_epoch, self.epoch)
        return replace(self, target_epoch=target, goes_back=False, run_ended=True)

    def with_best_by(self, best_by: str) -> "TrainingState":
        """Return this state in a run whose best checkpoint is the one with the lowest `best_by`.

        Validations with another figure are dropped, and with them an early stop that they caused. An open validation
        begins again, because the figure of its finished batches is not known.
        """
        if best_by == self.best_by:
            return self
        opened = self.open_epoch
        if opened is not None and opened.set_name is SetName.DEV:
            opened = OpenEpoch(opened.set_name, opened.plan)
        return replace(self._without_validations(), best_by=best_by, open_epoch=opened)

    def over_sets(self, train_set: str, dev_set: str) -> "TrainingState":
        """Return this state in a run over the sets of these fingerprints, each empty if the run does not use the set.

        The losses of another validation set are dropped, and with them an early stop that they caused.
        """
        state = replace(self, train_set=train_set or self.train_set, validates=bool(dev_set))
        if not dev_set or dev_set == self.dev_set:
            return state
        if not self.dev_set:
            return replace(state, dev_set=dev_set)
        return replace(state._without_validations(), dev_set=dev_set)

    def _without_validations(self) -> "TrainingState":
        return replace(self, dev_losses=(), dev_error_rates=(), varied_validations=0, stopped_early=False)

    def with_validation(self, tally: Tally, varied: int) -> "TrainingState":
        """Return this state after one more validation; `varied` is the new `varied_validations`."""
        losses, rates = (*self.dev_losses, tally.mean_loss), self.dev_error_rates
        if self.best_by != LOSS:
            edits = tally.validation_edits
            rates = (*rates, edits.wer if self.best_by == WER else edits.cer)
        return replace(self, dev_losses=losses, dev_error_rates=rates, varied_validations=varied)

    def with_figures(self, figures: Figures) -> "TrainingState":
        """Return this state with one more epoch in its history."""
        return replace(self, history=(*self.history, figures)[-HISTORY_KEPT:])

    def to_json(self) -> dict[str, Any]:
        """Return this state as a value for `json.dumps`."""
        return {
            "epoch": self.epoch,
            "requested_epoch": self.requested_epoch,
            "target_epoch": self.target_epoch,
            "dev_losses": list(self.dev_losses),
            "dev_error_rates": list(self.dev_error_rates),
            "best_by": self.best_by,
            "varied_validations": self.varied_validations,
            "stopped_early": self.stopped_early,
            "plateau_reductions": self.plateau_reductions,
            "goes_back": self.goes_back,
            "open_epoch": None if self.open_epoch is None else _open_epoch_to_json(self.open_epoch),
            "history": [[each.set_name.value, each.epoch, each.loss, each.wer] for each in self.history],
            "train_set": self.train_set,
            "dev_set": self.dev_set,
            "validates": self.validates,
            "run_ended": self.run_ended,
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "TrainingState":
        """Return the state of `to_json`; raise KeyError, TypeError, ValueError or OverflowError for another value."""
        opened = value["open_epoch"]
        return TrainingState(
            epoch=int(value["epoch"]),
            requested_epoch=int(value["requested_epoch"]),
            target_epoch=int(value["target_epoch"]),
            dev_losses=tuple(float(loss) for loss in value["dev_losses"]),
            dev_error_rates=tuple(float(rate) for rate in value.get("dev_error_rates", ())),
            best_by=str(value.get("best_by", LOSS)),
            varied_validations=int(value.get("varied_validations", 0)),
            stopped_early=bool(value["stopped_early"]),
            plateau_reductions=int(value.get("plateau_reductions", 0)),
            goes_back=bool(value.get("goes_back", False)),
            open_epoch=None if opened is None else _open_epoch_from_json(opened),
            history=tuple(_figures_from_json(*each) for each in value.get("history", ())),
            train_set=str(value.get("train_set", "")),
            dev_set=str(value.get("dev_set", "")),
            validates=bool(value.get("validates", True)),
            run_ended=bool(value.get("run_ended", True)),
        )


def _open_epoch_to_json(opened: OpenEpoch) -> dict[str, Any]:
    return {
        "set": opened.set_name.value,
        "batch_count": opened.plan.batch_count,
        "batch_size": opened.plan.batch_size,
        "fingerprint": opened.plan.fingerprint,
        "batching": opened.plan.batching,
        "done": as_ranges(opened.done),
        "tally": opened.tally.to_json(),
    }


def _open_epoch_from_json(value: Mapping[str, Any]) -> OpenEpoch:
    return OpenEpoch(
        set_name=SetName(value["set"]),
        plan=Plan(
            int(value["batch_count"]),
            int(value["batch_size"]),
            str(value["fingerprint"]),
            str(value.get("batching", "")),
        ),
        done=frozenset(index for start, end in value["done"] for index in range(start, end)),
        tally=Tally.from_json(value["tally"]),
    )


def _figures_from_json(set_name: str, epoch: int, loss: float, wer: float | None) -> Figures:
    return Figures(SetName(set_name), int(epoch), float(loss), None if wer is None else float(wer))


def as_ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Return the numbers as sorted, disjoint ranges `[start, end]` that do not include their ends."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number:
            ranges[-1][1] = number + 1
        else:
            ranges.append([number, number + 1])
    return ranges
