"""The normalization of transcripts."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from ..util.errors import FlagError
from ..util.transcripts import CASES, Normalizer
from .rows.checks import OneOf
from .rows.flag import flag, flags_of


@dataclass(frozen=True)
class TranscriptOptions:
    """The normalization of transcripts before they are checked, learned and compared."""

    title: ClassVar[str] = "Corpora"
    normalize: bool = flag(
        False,
        "normalize transcripts: Unicode NFC, one case, no punctuation or symbols, single spaces",
        name="normalize_transcripts",
    )
    case: str = flag(
        Normalizer.case,
        f"case of normalized transcripts: {', '.join(CASES)}",
        name="transcript_case",
        check=OneOf(tuple(CASES)),
    )
    kept_punctuation: str = flag(
        Normalizer.kept,
        "punctuation and symbols that normalized transcripts keep; apostrophes and hyphens only inside words",
        name="keep_punctuation",
    )
    numbers_in: str = flag(
        Normalizer.numbers_in,
        "language, such as en or fr, in which whole numbers of normalized transcripts are written out; needs num2words",
        name="write_out_numbers",
    )

    @property
    def normalizer(self) -> Normalizer | None:
        """The normalizer; None if transcripts stay as they are. Raise FlagError if num2words is needed and missing."""
        return Normalizer(self.case, self.kept_punctuation, self.numbers_in) if self.normalize else None

    def check_given(self, given: Collection[str]) -> None:
        """Raise FlagError if one of the flags `given` sets the normalization, but transcripts stay as they are."""
        for row in flags_of(type(self)):
            if row.name in given and row.name != "normalize_transcripts" and not self.normalize:
                raise FlagError(f"--{row.name}: needs --normalize_transcripts")
