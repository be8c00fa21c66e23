"""The kinds of augmentations by name. To add one, write a class in a module of `kinds` and add a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields

from ..files.user_paths import user_path
from .augmentation import CHOICES, Augmentation, from_texts, parameters_of, split_written, written
from .kinds.gaps import DropSamples, Shift, Silence, Trim
from .kinds.masks import Dropout, FrequencyMask, TimeMask
from .kinds.noise import Noise, Overlay
from .kinds.perturbation import Add, MixChannels, Multiply
from .kinds.rooms import Reverb, Room
from .kinds.speed import Pitch, Speed, Tempo
from .kinds.transmission import Band, Codec, Equalizer, Resample
from .kinds.voice import Voice
from .kinds.volume import Volume
from .kinds.warp import Warp

_CLASSES: tuple[type[Augmentation], ...] = (
    *(Speed, Tempo, Pitch, Voice, Volume, Shift, Trim, Silence),
    *(Noise, Overlay, Reverb, Room),
    *(Band, Equalizer, Resample, Codec, DropSamples),
    *(FrequencyMask, TimeMask, Dropout, Warp, Add, Multiply, MixChannels),
)

KINDS: Mapping[str, type[Augmentation]] = {each.kind: each for each in _CLASSES}


def parse_augmentation(text: str) -> Augmentation:
    """Parse an augmentation written as `kind[parameter=value,…]`.

    Raise ValueError for an unknown kind, an unknown parameter or an unusable value; the message lists what is known.
    """
    kind, values = split_written(text)
    if kind not in KINDS:
        raise ValueError(f"there is no augmentation {kind}; there are {', '.join(KINDS)}")
    try:
        return from_texts(KINDS[kind], values)
    except ValueError as error:
        raise ValueError(f"{kind}: {error}") from None


def parse_augmentations(texts: Sequence[str]) -> tuple[Augmentation, ...]:
    """Parse several augmentations, each as `parse_augmentation` does."""
    return tuple(map(parse_augmentation, texts))


def with_whole_source(text: str) -> str:
    """Make the path of a written augmentation's source absolute, so that the text means the same in any folder.

    Without a source, or if the absolute path could not be parsed again, return the text unchanged.
    """
    kind, values = split_written(text)
    if not values.get("source"):
        return text
    values["source"] = str(user_path(values["source"]).absolute())
    whole = f"{kind}[{','.join(f'{name}={value}' for name, value in values.items())}]"
    try:
        return whole if split_written(whole) == (kind, values) else text
    except ValueError:  # a comma in a folder's name
        return text


def markdown_table() -> str:
    """Return the documentation's table of the kinds, with their parameters and meanings."""
    head = "| kind | changes | parameters | it … |\n| --- | --- | --- | --- |\n"
    return head + "".join(
        f"| `{name}` | {_domains(kind)} | {_parameters(kind)} | {kind.summary} |\n" for name, kind in KINDS.items()
    )


def _domains(kind: type[Augmentation]) -> str:
    domain = next(each for each in fields(kind) if each.name == "domain")
    return ", ".join(domain.metadata.get(CHOICES, (domain.default,)))


def _parameters(kind: type[Augmentation]) -> str:
    shown = [each for each in parameters_of(kind) if each.name not in ("p", "domain")]
    return ", ".join(
        f"`{each.name}`" if each.default in (MISSING, "") else f"`{each.name}={written(each.default)}`"
        for each in shown
    )
