"""The corpora of the three sets, the alphabet that spells their transcripts, and their features."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from ..util.augmentation.augmentation import Augmentation, source_of
from ..util.augmentation.recordings import recordings_of
from ..util.augmentation.registry import parse_augmentation, parse_augmentations
from ..util.errors import FlagError
from ..util.features import FRONT_ENDS, NORMALIZATIONS, FeatureOptions
from ..util.output_units import UNITS, ByteAlphabet
from ..util.text import Alphabet
from .rows.checks import Check, OneOf, at_least
from .rows.flag import SwitchAlias, flag

CORPORA = "Corpora"

PACKAGED_ALPHABET = Path(__file__).parents[1] / "alphabet.txt"
"""The alphabet that is used unless `--alphabet_config_path` is given: `data/alphabet.txt`, as installed."""


@dataclass(frozen=True)
class CorpusOptions:
    """The lists of a set's utterances, and how many of its utterances are used (0: all)."""

    title: ClassVar[str] = CORPORA
    files: tuple[Path, ...] = flag(
        (),
        "lists of utterances to {verb} on (CSV, TSV, JSON lines, or Kaldi's directories), separated by commas",
        name="{set}_files",
    )
    limit: int = flag(
        0, "use only this many of the shortest {noun} utterances; 0: all", name="limit_{set}", check=at_least(0)
    )


@dataclass(frozen=True)
class SetOptions(CorpusOptions):
    """One of the three sets (train, dev, test): its corpus, feature cache and batch size."""

    cached_features_path: Path | None = flag(
        None,
        "HDF5 file that caches the features of the {noun} set",
        name="{set}_cached_features_path",
        decides_result=False,
        aliases=("{cache_alias}",),
    )
    batch_size: int = flag(1, "utterances per {noun} batch and device", name="{set}_batch_size", check=at_least(1))


@dataclass(frozen=True)
class BadRowOptions:
    """Whether rows that cannot be used are left out."""

    title: ClassVar[str] = CORPORA
    skip: bool = flag(False, "leave out rows that cannot be used, instead of stopping", name="skip_bad_rows")


@dataclass(frozen=True)
class ExclusionOptions:
    """Rows that are left out of the training set."""

    title: ClassVar[str] = CORPORA
    files: tuple[Path, ...] = flag(
        (),
        "lists of rows to leave out of the training set, separated by commas, as bin/find_bad_rows.py writes them",
        name="exclude_files",
    )


class AugmentationCheck(Check):
    """Augmentations as texts, each `kind[parameter=value,…]`."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the first that cannot be used."""
        for text in value:
            try:
                parse_augmentation(text)
            except ValueError as error:
                return f"--{name}={text}: {error}; see docs/augmentation.md"
        return ""


@dataclass(frozen=True)
class AugmentationOptions:
    """The augmentations of the training set, as texts; see `deepspeech.util.augmentation`."""

    title: ClassVar[str] = CORPORA
    written: tuple[str, ...] = flag(
        (),
        "change the training set at random, differently in each epoch, such as speed[p=0.5,factor=1~0.1]; may be given"
        " several times",
        name="augment",
        check=AugmentationCheck(),
        repeated=True,
    )

    @classmethod
    def of(cls, *augmentations: Augmentation) -> "AugmentationOptions":
        """Return the options of augmentations that an experiment describes as dataclasses."""
        return cls(tuple(map(str, augmentations)))

    @property
    def augmentations(self) -> tuple[Augmentation, ...]:
        """The augmentations, in their order."""
        return parse_augmentations(self.written)

    def check(self, sample_rate: int) -> None:
        """Raise FlagError for the first augmentation that cannot be used at a sample rate, in Hz.

        Such an augmentation leaves nothing of the recordings, or its recordings of noise or rooms are missing.
        """
        for text, augmentation in zip(self.written, self.augmentations, strict=True):
            try:
                augmentation.check_rate(sample_rate)
                if source_of(augmentation):
                    recordings_of(source_of(augmentation))
            except (ValueError, FlagError) as error:
                raise FlagError(f"--augment={text}: {error}") from error


@dataclass(frozen=True)
class AlphabetOptions:
    """The alphabet: the labels of the model."""

    title: ClassVar[str] = CORPORA
    unit: str = flag(
        Alphabet.unit,
        f"what a label stands for: {', '.join(UNITS)}; all but bytes have a file, --alphabet_config_path",
        name="output_unit",
        check=OneOf(tuple(UNITS)),
        aliases=tuple(SwitchAlias(name, ByteAlphabet.unit, Alphabet.unit) for name in ("bytes_output_mode", "utf8")),
    )
    given_path: Path | None = flag(
        None,
        "file of the labels, one per line, or of word pieces; default: the packaged data/alphabet.txt for characters; "
        "with --experiment, for other units, a file made from the transcripts",
        name="alphabet_config_path",
    )

    @property
    def path(self) -> Path | None:
        """The alphabet's file; None for bytes, which need none, or if a unit's file is missing."""
        return PACKAGED_ALPHABET if self.given_path is None and self.unit == Alphabet.unit else self.given_path


def _told(size: int) -> str:
    """Return a size (its index in FrameSizes) of all front ends' frames, in words: the default's, then others'."""
    default = FRONT_ENDS[FeatureOptions.feature_type][size]
    others = [f"{sizes[size]} of {name}" for name, sizes in FRONT_ENDS.items() if sizes[size] != default]
    return ", ".join((str(default), *others))


@dataclass(frozen=True)
class FrontEndOptions:
    """The front end that computes features."""

    title: ClassVar[str] = CORPORA
    audio_sample_rate: int = flag(
        FeatureOptions.sample_rate, "the model's sample rate in Hz; other audio is resampled", check=at_least(1)
    )
    feature_type: str = flag(
        FeatureOptions.feature_type,
        f"front end: {', '.join([*FRONT_ENDS][:-1])} or {[*FRONT_ENDS][-1]}",
        check=OneOf(tuple(FRONT_ENDS)),
    )
    window_ms: int = flag(
        0,
        f"length of a frame's window, in ms; 0: {_told(0)}",
        check=at_least(0),
        name="feature_win_len",
    )
    step_ms: int = flag(
        0,
        f"ms from one frame to the next; 0: {_told(1)}",
        check=at_least(0),
        name="feature_win_step",
    )
    coefficients: int = flag(0, f"features of a frame; 0: {_told(2)}", check=at_least(0), on_command_line=False)
    normalization: str = flag(
        FeatureOptions.normalization,
        "normalize each feature to mean 0 and deviation 1: global, by the training set's statistics; running, also by"
        " those of the recording so far; utterance, by those of the whole recording, which cannot stream; or none",
        check=OneOf(NORMALIZATIONS),
        name="normalize_features",
    )
    stack_frames: int = flag(
        FeatureOptions.stack_frames, "frames that are stacked into one frame of the network", check=at_least(1)
    )
    skip_frames: int = flag(
        FeatureOptions.skip_frames,
        "frames from the start of one frame of the network to the start of the next; 0: as many as are stacked",
        check=at_least(0),
    )

    @property
    def filled_in(self) -> "FrontEndOptions":
        """The same options with the front end's own sizes in place of zeros. Raise FeatureError like `features`."""
        features = self.features
        return replace(self, window_ms=features.window_ms, step_ms=features.step_ms, coefficients=features.coefficients)

    @property
    def left_open(self) -> "FrontEndOptions":
        """The same options with zeros in place of the front end's own sizes, so that another front end uses its own."""
        own = FRONT_ENDS.get(self.feature_type, (0, 0, 0))
        sizes = (self.window_ms, self.step_ms, self.coefficients)
        window_ms, step_ms, coefficients = (0 if size == its else size for size, its in zip(sizes, own, strict=True))
        return replace(self, window_ms=window_ms, step_ms=step_ms, coefficients=coefficients)

    @property
    def features(self) -> FeatureOptions:
        """The features. Raise FeatureError if no front end can compute them."""
        settings = {each.name: getattr(self, each.name) for each in fields(self)}
        return FeatureOptions(sample_rate=settings.pop("audio_sample_rate"), **settings)
