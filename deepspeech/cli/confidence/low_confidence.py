"""Words of low confidence in transcripts: they are marked or dropped."""

from __future__ import annotations

import argparse
from dataclasses import replace

from ...errors import FlagError
from ...serving.transcripts import TimedWord, Transcript, separators

MARK, DROP = "mark", "drop"


def add_confidence_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "--min_confidence",
        type=float,
        metavar="P",
        help="mark or drop words with a confidence below P, from 0 to 1",
    )
    text = "treatment of these words: mark writes [word?], drop leaves them out (default: mark)"
    parser.add_argument("--low_confidence", choices=[MARK, DROP], help=text)


def check_confidence_flags(options: argparse.Namespace) -> None:
    """Raise FlagError for flags that cannot be used."""
    if options.min_confidence is None:
        if options.low_confidence is not None:
            raise FlagError("--low_confidence: needs --min_confidence")
        return
    if not 0 <= options.min_confidence <= 1:
        raise FlagError(f"--min_confidence={options.min_confidence:g}: must be from 0 to 1")
    if options.stream:
        raise FlagError("--min_confidence: cannot be combined with --stream, which prints words before they are sure")


def as_asked(spoken: Transcript, options: argparse.Namespace) -> Transcript:
    """Return a transcript with its words of low confidence marked or dropped, if the flags ask for it."""
    least = options.min_confidence
    if least is None or all(word.confidence >= least for word in spoken.words):
        return spoken
    before = separators(spoken.words, spoken.text)
    said = list(zip(before, spoken.words, strict=True))
    if options.low_confidence == DROP:
        said = [each for each in said if each[1].confidence >= least]
    else:
        said = [(space, _marked(word, least)) for space, word in said]
    text = "".join(f"{space}{word.text}" for space, word in said).strip(" ")
    return replace(spoken, text=text, words=tuple(word for _, word in said))


def _marked(word: TimedWord, least: float) -> TimedWord:
    return word if word.confidence >= least else replace(word, text=f"[{word.text}?]")
