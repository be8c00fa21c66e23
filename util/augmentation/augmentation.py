"""An augmentation: a frozen dataclass of parameters that changes samples, spectrograms or features at random.

    @dataclass(frozen=True, kw_only=True)
    class Volume(Augmentation):
        kind: ClassVar[str] = "volume"
        summary: ClassVar[str] = "brings the loudest sample to `dbfs`"
        dbfs: Range = Range(3.0103)

        def augment(self, array, occasion):
            ...

is written `volume[p=0.5,dbfs=-10~5]`. A parameter is a Range, a float, or a str, which may have `choices`.
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, get_type_hints

import numpy as np
import numpy.typing as npt

from ..audio import Samples
from ..errors import AudioError, AugmentationError
from .ranges import Range, parse_range
from .recordings import Recordings

Array = npt.NDArray[Any]

CHOICES = "choices"
"""The key in a parameter's metadata of its allowed values."""

DECIBELS = (-100.0, 100.0)
"""The lowest and the highest value of a parameter in decibels."""

_WRITTEN = re.compile(r"\s*(\w+)\s*(?:\[(.*)\])?\s*", re.DOTALL)


class Domain(str, Enum):
    """What an augmentation changes, in the order of application: the signal first, features last."""

    SIGNAL = "signal"
    """Samples, float32 [samples] in [-1, 1]."""
    SPECTROGRAM = "spectrogram"
    """The samples' spectrogram, complex64 [frames, bins]; see `spectrogram`."""
    FEATURES = "features"
    """The front end's output, float32 [frames, coefficients]."""


SIGNAL, SPECTROGRAM, FEATURES = (domain.value for domain in Domain)
"""The domains as values of parameters."""


@dataclass(frozen=True)
class Occasion:
    """The inputs for one application of an augmentation to an utterance."""

    random: np.random.Generator
    clock: float
    """0 at the beginning of training, 1 at its end."""
    sample_rate: int
    """Hz."""
    rates: Mapping[Domain, float]
    """Entries per second along the first axis of each domain's array."""
    voices: int
    """Utterances of the same corpus before this index have their recordings at hand."""
    utterance: Callable[[int], Samples]
    """Reads the recording of an utterance of the same corpus, by its index."""
    recordings: Recordings
    """Reads recordings that belong to no corpus, such as those of noise."""

    def draw(self, values: Range) -> float:
        """Return a value of a range."""
        return values.draw(self.random, self.clock)

    def draw_whole(self, values: Range) -> int:
        """Return a whole number of a range."""
        return values.draw_whole(self.random, self.clock)

    def recording(self, source: str) -> Samples:
        """Return a random recording of a source, float32 [samples]. Raise AugmentationError if it cannot be read."""
        recordings = self.recordings.of(source)
        try:
            return self.recordings.read(recordings[int(self.random.integers(len(recordings)))])
        except AudioError as error:
            raise AugmentationError(f"--augment: source={source}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Augmentation(ABC):
    """A change that is applied to an utterance with the probability `p`. Any number of threads may use one."""

    kind: ClassVar[str]
    """Its name on the command line."""
    summary: ClassVar[str]
    """What it does, as a phrase after "it"."""
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """The lowest and the highest value of each bounded parameter."""
    domain: str = SIGNAL
    p: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError for a value outside its bounds or choices."""
        for each in parameters_of(type(self)):
            value = getattr(self, each.name)
            allowed = each.metadata.get(CHOICES)
            if allowed and value not in allowed:
                raise ValueError(f"{each.name}={value}: must be one of {', '.join(allowed)}")
            lowest, highest = (0.0, 1.0) if each.name == "p" else self.bounds.get(each.name, (-np.inf, np.inf))
            smallest, largest = (value.lowest, value.highest) if isinstance(value, Range) else (value, value)
            if isinstance(value, (Range, float, int)) and not lowest <= smallest <= largest <= highest:
                raise ValueError(f"{each.name}={value}: must be {_limits(lowest, highest)}")

    def check_rate(self, sample_rate: int) -> None:  # noqa: B027 - most kinds work at any
        """Raise ValueError if the augmentation cannot work at a sample rate, in Hz."""

    def __str__(self) -> str:
        given = (f"{each.name}={written(getattr(self, each.name))}" for each in parameters_of(type(self)))
        return f"{self.kind}[{','.join(given)}]"

    @abstractmethod
    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return the changed array of the augmentation's domain; the given array stays unchanged."""


def choice(default: str, *others: str) -> Any:
    """Return the field of a parameter whose value is one of a few words."""
    return field(default=default, metadata={CHOICES: (default, *others)})


def parameters_of(kind: type[Augmentation]) -> Iterator[dataclasses.Field[Any]]:
    """Yield the parameters of a kind, `p` first; `domain` only if the kind lets it be chosen."""
    of_kind = {each.name: each for each in dataclasses.fields(kind)}
    if CHOICES not in of_kind["domain"].metadata:
        del of_kind["domain"]
    yield of_kind.pop("p")
    yield from of_kind.values()


def source_of(augmentation: Augmentation) -> str:
    """Return the value of `source`, the recordings to mix in, as written; empty if there is none."""
    return str(getattr(augmentation, "source", ""))


def split_written(text: str) -> tuple[str, dict[str, str]]:
    """Split a text like `kind[name=value,…]` into the kind and the parameters; raise ValueError."""
    match = _WRITTEN.fullmatch(text)
    if not match:
        raise ValueError("is not written as kind[parameter=value,…], such as volume[p=0.5,dbfs=-10~5]")
    values: dict[str, str] = {}
    for part in (match[2] or "").split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            continue
        if not sign:
            raise ValueError(f"{part.strip()}: must be written as parameter=value")
        if name in values:
            raise ValueError(f"{name} is given twice")
        values[name] = value
    return match[1], values


def from_texts(kind: type[Augmentation], values: Mapping[str, str]) -> Augmentation:
    """Return an augmentation of a kind, with parameters parsed from texts; raise ValueError."""
    types = get_type_hints(kind)
    known = [each.name for each in parameters_of(kind)]
    parsed: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"there is no parameter {name}; there are {', '.join(known)}")
        try:
            parsed[name] = {Range: parse_range, float: _number}.get(types[name], str)(value)
        except ValueError as error:
            raise ValueError(f"{name}={value}: {error}") from None
    for each in parameters_of(kind):
        if each.name not in parsed and each.default is dataclasses.MISSING:
            raise ValueError(f"{each.name} must be given")
    return kind(**parsed)


def written(value: object) -> str:
    """Return the value of a parameter as a user would write it."""
    return str(Range(value)) if isinstance(value, (int, float)) else str(value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("must be a number") from None


def _limits(lowest: float, highest: float) -> str:
    if highest == np.inf:
        return f"{Range(lowest)} or more"
    return f"{Range(lowest)} to {Range(highest)}"
