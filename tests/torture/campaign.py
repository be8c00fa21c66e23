"""Trainings of one model that are killed and begun again, until they have come to their end."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from corpora import TinyCorpus
from damage import best_loss, damage_a_file, intact
from disturbed_run import Ended, Moment, run_until
from phases import BETWEEN
from program import Program

from deepspeech.checkpoints.model_figures import ModelFigures

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

BAD_SIGNS = ("Traceback", "Exception ignored", "Graph execution error", "Fatal Python error", "terminate called")
"""What a log never holds."""

MOST_REFUSALS = 5
"""Starts that may end with advice, which is followed each time, before a training comes to its end."""


@dataclass(frozen=True)
class Training:
    """An augmented training of a tiny model in its own folder, with checkpoints, caches, validations and a test."""

    corpus: TinyCorpus
    folder: Path

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    def arguments(self) -> list[str]:
        program = Program(self.corpus, self.folder)
        caches = [f"--{name}_cached_features_path={self.folder / name}.h5" for name in ("train", "dev", "test")]
        augmentation = ["--augment=speed[p=0.7],noise[p=0.5],frequency_mask[p=0.5],time_mask[p=0.5,domain=features]"]
        flags = ["--noearly_stop", "--intra_op_parallelism_threads=1", "--n_hidden=16", "--train_batch_size=2"]
        return [
            *program.training(epoch=8, validation_step=1, checkpoint_secs=1, learning_rate=0.001),
            *(*program.test_files(), *caches, *augmentation, *flags),
        ]

    def result(self) -> Mapping[str, Any]:
        """Return the losses of all epochs and of the test, in nats, and the checkpoint that was tested."""
        newest = intact(self.checkpoints, "train")
        history = newest[max(newest)]["state"]["history"]
        figures = ModelFigures.read(self.checkpoints)
        losses = {f"{name} {epoch}": loss for name, epoch, loss, _ in history}
        return {**losses, "test": figures.test_loss, "wer": figures.wer, "tested": figures.test_checkpoint}


@dataclass(frozen=True)
class Undisturbed:
    """What a training that nothing disturbs comes to, and when it enters and leaves which phase."""

    result: Mapping[str, Any]
    phases: Sequence[tuple[float, str]]

    @property
    def seconds(self) -> float:
        return self.phases[-1][0] - self.phases[0][0]

    def lengths(self) -> dict[str, list[float]]:
        """Return the seconds of each phase, each time that it was entered."""
        lengths: dict[str, list[float]] = {}
        for (entered, phase), (left, _) in zip(self.phases, self.phases[1:], strict=False):
            lengths.setdefault(phase, []).append(left - entered)
        return lengths


def undisturbed(training: Training) -> Undisturbed:
    training.folder.mkdir()
    ended = run_until(None, training.arguments(), training.folder, "undisturbed")
    assert ended.code == 0, ended.log
    return Undisturbed(training.result(), ended.phases)


@dataclass
class Campaign:
    """Rounds of start and kill that a seed decides: the first of them harm no file, the last of them do.

    After the rounds, and between those that harm no file and those that do, a training is run to its end.
    """

    corpus: TinyCorpus
    folder: Path
    expected: Undisturbed
    seed: str
    hits: Counter[str] = field(default_factory=Counter)
    damages: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._trainings = 0
        self.folder.mkdir()
        self._begin()

    def run(self, rounds: int) -> None:
        """Run the rounds; of the last 40 %, each second one damages a file, so that of all each fifth one does."""
        harmless = rounds - 2 * (rounds // 5)
        for number in range(harmless):
            self._round(harm=False, last=number == harmless - 1)
        for number in range(rounds - harmless):
            self._round(harm=number % 2 == 0, last=number == rounds - harmless - 1)

    def _begin(self) -> None:
        """Begin a training in a new folder."""
        self._trainings += 1
        self._training = Training(self.corpus, self.folder / f"training-{self._trainings}")
        self._training.folder.mkdir()
        self._best = float("inf")
        self._damaged = False
        self._starts = 0
        self._refusals = 0

    def _round(self, *, harm: bool, last: bool) -> None:
        ended = self._start(self._draw_moment())
        if ended.hit:
            self.hits[ended.hit] += 1
        over = self._is_over(ended)
        if harm:
            over = self._harm() is None and over
        while last and not over:
            over = self._is_over(self._start(None))
        if over:
            shutil.rmtree(self._training.folder)
            self._begin()

    def _start(self, moment: Moment | None) -> Ended:
        self._starts += 1
        self.story.append(f"{self._training.folder.name}, start {self._starts}: {moment or 'undisturbed'}")
        ended = run_until(moment, self._training.arguments(), self._training.folder, f"start-{self._starts}")
        self.story[-1] += f": in {ended.hit or 'no phase'}, code {ended.code}"
        bad = [sign for sign in BAD_SIGNS if sign in ended.log]
        assert not bad, f"{bad[0]} in the log:\n{ended.log}"
        codes = {0} if moment is None else {0, -moment.signal, 128 + moment.signal}
        assert ended.code in codes | ({1} if self._damaged else set()), f"code {ended.code}:\n{ended.log}"
        best = best_loss(self._training.checkpoints)
        assert best <= self._best, f"the best model was of loss {self._best}, and is of {best} now:\n{ended.log}"
        self._best = best
        return ended

    def _is_over(self, ended: Ended) -> bool:
        """Return whether a training has come to its end, which is checked; follow the advice of one that refuses."""
        self.ends[{0: "done", 1: "refused"}.get(ended.code, "killed")] += 1
        if ended.code == 1:
            self._refusals += 1
            assert self._refusals <= MOST_REFUSALS, ended.log
            self._follow_advice(ended.log)
        if ended.code != 0:
            return False
        if not self._damaged:
            result = self._training.result()
            assert result == pytest.approx(self.expected.result, abs=1e-4), f"{result} is not {self.expected.result}"
        return True

    def _draw_moment(self) -> Moment:
        """Return any moment of an undisturbed training in a quarter of cases, else one in a phase of it."""
        sent = self._chance.choice(SIGNALS)
        lengths = self.expected.lengths()
        del lengths[BETWEEN]
        if self._chance.random() < 0.25:
            return Moment(sent, BETWEEN, 0, self._chance.uniform(0, self.expected.seconds))
        phase = self._chance.choice(sorted(lengths))
        occurrence = self._chance.randrange(len(lengths[phase]))
        return Moment(sent, phase, occurrence, self._chance.uniform(0, lengths[phase][occurrence]))

    def _harm(self) -> Path | None:
        """Damage a file of the folder of checkpoints; return which, or None if there is none yet."""
        done = damage_a_file(self._training.checkpoints, self._chance)
        if done is None:
            return None
        kind, path = done
        self._damaged = True
        self.damages[kind] += 1
        self.story.append(f"{kind}: {path.relative_to(self._training.folder)}")
        if path.name.startswith("best_dev-"):
            self._best = best_loss(self._training.checkpoints)
        return path

    def _follow_advice(self, log: str) -> None:
        """Do what the one line of an error says: remove the files that it names, or begin in another folder."""
        (line,) = (line for line in log.splitlines() if line.startswith("deepspeech: "))
        self.story.append(line)
        assert str(self._training.checkpoints) in line, log
        removed = re.findall(r"removing (.+)$", line)
        assert removed or "another --checkpoint_dir" in line or "remove it" in line, log
        for pattern in removed[0].split(", ") if removed else ["*"]:
            for path in self._training.checkpoints.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._best = best_loss(self._training.checkpoints)


def story_of(error: BaseException, campaign: Campaign) -> str:
    """Return what a person needs to know of a failure."""
    return json.dumps(campaign.story, indent=1) + f"\n{error}"
