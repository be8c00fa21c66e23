"""The experiment `auto`: network, schedule, augmentation and batches for any corpus, by its size and the machine.

The rules below were chosen on the validation speakers of the corpora of docs/accuracy.md. Each reason is a line of the
log.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from ...options import Options, values_of
from ...options.rows.values import Value
from ...util.errors import ParametersError
from ...util.features import GLOBAL, RUNNING, UTTERANCE
from ...util.figures.counted import counted
from ...util.importing.pipeline.records import SETS
from ...util.output_units import WordPieceAlphabet
from ...util.parallel import usable_cores
from ...util.progress import duration
from ..experiment import Experiment, register
from ..recordings import OF_ANY_LANGUAGE
from ..unheard import AUGMENTATIONS, OTHER_PEOPLE, OTHER_VOICES, SILENCE, SMALL_MASKS, UNHEARD
from .measuring import Measured

Figures = TypeVar("Figures")

NAME = "auto"

GPUS = Path("/proc/driver/nvidia/gpus")
"""Where the driver shows a folder for each."""
RATES = (8000, 16000)
"""Hz."""
SIZES = ((10.0, (4, 256)), (30.0, (4, 384)), (200.0, (5, 512)), (math.inf, (5, 768)))
"""Layers and units up to a number of hours."""
BATCHES = ((10.0, 8), (50.0, 16), (math.inf, 32))
"""Utterances of a batch up to a number of hours. Steps, not hours, decide when a network leaves the first plateau."""
OUTPUT_STEPS = ((40, 2.4), (30, 2.4), (20, 1.2), (10, 0.0))
"""Milliseconds of an output, and the least ratio of outputs to those that the fastest speech needs.

With many outputs, letters are confused less often. Augmentation makes the fastest speech even faster.
"""
MORE_CONVOLUTIONS_STEP = 20
"""Up to these milliseconds of an output, networks for many speakers begin with four convolutions instead of two."""
STEP_OF_WORD_PIECES = 40
"""Milliseconds of an output; with less, word pieces are learned much later."""
CHUNK_MS = 320
"""Milliseconds that a streaming network processes at a time."""
FEW_SPEAKERS = 30
HANDFUL_OF_SPEAKERS = 10
"""Below this, augmentation also changes the formants, which helps most for the hardest new speakers."""
SHORT_SECONDS = 0.7
"""If utterances are shorter on average, normalization by their own statistics removes too much of the speech."""
SMALL_MASKS_SECONDS, SMALL_MASKS_HOURS = 5.0, 10.0
"""With fewer hours of shorter utterances, larger masks hide too much."""
LITTLE_SILENCE = 0.25
"""Seconds before and after the speech together. A network that was trained with less writes letters into silence."""
LEAST_EPOCHS, MOST_EPOCHS, STEPS_IN_ALL = 20, 150, 12_000
MOST_EPOCHS_OF_FEW, STEPS_OF_FEW, HOURS_OF_FEW = 250, 24_000, 1.0
"""With few speakers, voices are changed much, and networks improve for longer; with so few hours there is time."""
BEGINNING = "beginning"
"""Names the model that training began with, among the measurements in a run's parameters."""
LEARNING_RATE_AFTER = 0.0005
"""The highest learning rate if training begins with another model, which has learned speech already."""

AUTO = register(
    NAME,
    replace(
        OF_ANY_LANGUAGE,
        corpus="lists",
        cached_sets=("dev",),
        summary="your recordings, few or many: measures them, chooses all settings, and gives its reasons",
        options=replace(
            UNHEARD, bad_rows=OF_ANY_LANGUAGE.options.bad_rows, transcripts=OF_ANY_LANGUAGE.options.transcripts
        ),
    ),
)


@dataclass(frozen=True)
class Machine:
    """The hardware that trains."""

    cores: int
    gpus: int

    @classmethod
    def this_one(cls, gpus: Path = GPUS) -> Machine:
        """Return this machine's cores and NVIDIA GPUs, as far as this process may see them, without TensorFlow.

        There is an entry in the folder `gpus` for each; `CUDA_VISIBLE_DEVICES` may list fewer, up to one that is none.
        """
        count = len(list(gpus.iterdir())) if gpus.is_dir() else 0
        listed = os.environ.get("CUDA_VISIBLE_DEVICES")
        if listed is not None:
            shown = takewhile(lambda each: each.strip() not in ("", "-1"), listed.split(","))
            count = min(count, len(list(shown)))
        return cls(usable_cores(), count)


@dataclass(frozen=True)
class Choice:
    """Values of flags, and the reasons for them, a line each."""

    flags: Mapping[str, Value]
    reasons: tuple[str, ...]


_TURKISH_CASE = Choice(
    {"transcript_case": "turkish"},
    ("transcripts: I becomes \u0131 and \u0130 becomes i, as in Turkish and Azerbaijani, whose letters they have",),
)


@dataclass(frozen=True)
class Beginning:
    """The model whose weights training begins with: the flag that names it, and the flags that it decides."""

    origin: str
    flags: Mapping[str, Value]


def experiment_for(
    measured: Measured, machine: Machine, beginning: Beginning | None = None
) -> tuple[Experiment, tuple[Choice, ...]]:
    """Return the experiment for a corpus on a machine, and its choices; `beginning` decides features and network."""
    choices = tuple(_choices(measured, machine, beginning))
    flags = {name: value for choice in choices for name, value in choice.flags.items()}
    told = {**asdict(measured), **asdict(machine), **({BEGINNING: beginning.origin} if beginning else {})}
    flags["measured"] = tuple(f"{name}={value}" for name, value in told.items())
    return AUTO.with_flags(**flags), choices


def measured_before(lines: object, where: Path) -> tuple[Measured, Machine, str]:
    """Return the corpus, the machine and the model that training began with, if any, in a run's parameters.

    Raise ParametersError if they are not there.
    """
    try:
        assert isinstance(lines, tuple)
        values = {name: value for name, _, value in (str(line).partition("=") for line in lines)}
        return _of_texts(Measured, values), _of_texts(Machine, values), values.get(BEGINNING, "")
    except (AssertionError, KeyError, ValueError) as error:
        raise ParametersError(f"{where}: is not of a run of --experiment=auto; choose another --work") from error


def _choices(measured: Measured, machine: Machine, beginning: Beginning | None) -> Iterator[Choice]:
    if measured.turkish:
        yield _TURKISH_CASE
    if beginning is None:
        yield _front_end(measured)
        yield _network(measured, machine)
    else:
        yield _as_before(beginning)
    yield _augmentation(measured)
    yield _schedule(measured, machine, beginning is not None)


def _as_before(beginning: Beginning) -> Choice:
    defaults = values_of(Options())
    told = " ".join(f"--{name}={value}" for name, value in beginning.flags.items() if value != defaults[name])
    return Choice(
        beginning.flags,
        (f"features and network: those of the model to begin with, {beginning.origin}: {told}",),
    )


def _front_end(measured: Measured) -> Choice:
    rate = min(RATES, key=lambda rate: (rate > measured.sample_rate, abs(rate - measured.sample_rate)))
    normalization = _normalization(measured)
    up_to = " up to the current frame" if normalization == RUNNING else ""
    by = "all" if normalization == GLOBAL else f"each recording{up_to}, as there are few speakers"
    return Choice(
        {"feature_type": "fbank", "audio_sample_rate": rate, "normalize_features": normalization},
        (
            f"features: log-mel energies at {rate} Hz, as the recordings have {measured.sample_rate} Hz; normalized by "
            f"the statistics of {by}",
        ),
    )


def _normalization(measured: Measured) -> str:
    if not _has_few(measured):
        return GLOBAL
    return RUNNING if measured.seconds < SHORT_SECONDS else UTTERANCE


def _network(measured: Measured, machine: Machine) -> Choice:
    layers, units = next(size for hours, size in SIZES if measured.hours < hours)
    if machine.gpus:
        layers, units = layers + 1, units * 3 // 2
    step, why = _output_step(measured)
    chunk = CHUNK_MS // step
    streaming = f"--nobidirectional --lstm_chunk={chunk} --lstm_chunk_offset={chunk // 2}"
    if _normalization(measured) == UTTERANCE:
        streaming += f" --normalize_features={RUNNING}"
    convolutions = 4 if step <= MORE_CONVOLUTIONS_STEP and not _has_few(measured) else 2
    return Choice(
        {
            **{"network": "lstm", "bidirectional": True, "lstm_layers": layers, "n_hidden": units},
            **{"output_step": step, "convolutions": convolutions},
        },
        (
            f"network: {convolutions} convolutions and {layers} bidirectional LSTMs of {units} units for "
            f"about {duration(3600 * measured.hours)} of speech; {streaming} for a model that streams, with some more "
            "errors",
            f"outputs: {step} ms, as {why}",
        ),
    )


def _output_step(measured: Measured) -> tuple[int, str]:
    """Return the milliseconds of an output, and the reason."""
    needed = measured.labels_a_second
    if measured.output_unit == WordPieceAlphabet.unit:
        return STEP_OF_WORD_PIECES, "word pieces are fewer, and longer, than letters"
    step = next(step for step, times in OUTPUT_STEPS if times * needed <= 1000 / step)
    return step, f"the fastest speech has {needed:.0f} labels a second"


def _augmentation(measured: Measured) -> Choice:
    few = _has_few(measured)
    who = counted(measured.speakers, "speaker") if measured.speakers else "speakers that are not known"
    handful = few and measured.speakers < HANDFUL_OF_SPEAKERS
    voices = f" and other voices{' and formants' * handful}" if few else ""
    small = not few and measured.seconds < SMALL_MASKS_SECONDS and measured.hours < SMALL_MASKS_HOURS
    masks = f" of small masks, as utterances are {measured.seconds:.1f} s long" if small else ""
    chosen = OTHER_PEOPLE if handful else OTHER_VOICES if few else SMALL_MASKS if small else AUGMENTATIONS
    written, silence = chosen.written, ""
    if measured.silence < LITTLE_SILENCE:
        written = (str(SILENCE), *written)
        silence = f"; and silence around the speech, as recordings have {measured.silence:.2f} s of it"
    return Choice(
        {"augment": written}, (f"augmentation: speed, noise, SpecAugment{masks}{voices}, for {who}{silence}",)
    )


def _has_few(measured: Measured) -> bool:
    """Return whether the lists name few speakers."""
    return 0 < measured.speakers < FEW_SPEAKERS


def _schedule(measured: Measured, machine: Machine, begins_with_another: bool) -> Choice:
    batch = next(size for hours, size in BATCHES if measured.hours < hours)
    batch *= 2 if machine.gpus else 1
    steps = -(-measured.utterances // batch)
    longer = _has_few(measured) and measured.hours < HOURS_OF_FEW
    most, in_all = (MOST_EPOCHS_OF_FEW, STEPS_OF_FEW) if longer else (MOST_EPOCHS, STEPS_IN_ALL)
    epochs = round(min(most, max(LEAST_EPOCHS, in_all / steps)))
    flags: dict[str, Value] = {f"{name}_batch_size": batch for name in SETS}
    fewer, rate = "", ""
    if begins_with_another:
        epochs, flags["learning_rate"] = epochs // 2, LEARNING_RATE_AFTER
        fewer, rate = ", half as many as from random weights", f" from {LEARNING_RATE_AFTER}"
    return Choice(
        {**flags, "epoch": epochs},
        (
            f"schedule: {counted(epochs, 'epoch')} of about {counted(steps, 'batch')} of {batch}{fewer}; the learning "
            f"rate falls{rate} to 0; the mean of the five checkpoints of lowest word error rate",
        ),
    )


def _of_texts(kind: type[Figures], values: Mapping[str, str]) -> Figures:
    """Return the figures in these texts; those with a default may be missing. Raise KeyError or ValueError."""
    types = {"int": int, "float": float, "str": str}
    told = [each for each in fields(kind) if each.default is MISSING or each.name in values]  # type: ignore[arg-type]
    return kind(**{each.name: types[str(each.type)](values[each.name]) for each in told})
