"""Makes the alphabet of a corpus from its transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..corpus_files import read_transcripts
from ..errors import CorpusError
from ..files.whole_files import write_whole
from ..output_units import WordPieceAlphabet
from ..output_units.making import made_alphabet
from ..progress import Report
from ..text import Alphabet
from ..transcripts import Normalizer


def make_alphabet(
    unit: str,
    training: Sequence[Path],
    others: Sequence[Sequence[Path]],
    to: Path,
    normalizer: Normalizer | None,
    report: Report,
    known: Alphabet | None = None,
) -> None:
    """Write the alphabet of the transcripts of CSV files, in an output unit, to the file `to`.

    If `known`, the alphabet of the model that training begins with, can spell all of them, it is written instead.
    Characters that occur only in `others`, the CSVs of dev and test, are labels, too, so that no row is left out for
    them. They are reported, as they cannot be learned. Except for these, word pieces are chosen by the training set
    alone. Raise CorpusError if there are no characters, or a file cannot be read, and AlphabetError if the unit cannot
    have such an alphabet.
    """
    learned = _transcripts(training, normalizer)
    rest = [text for csv_files in others for text in _transcripts(csv_files, normalizer)]
    if unit == WordPieceAlphabet.unit:
        rest = sorted(set("".join(rest)) - set("".join(learned)))
    texts = [*learned, *rest]
    if not "".join(texts).strip():
        lists = ", ".join(map(str, training)) or "the lists of the training set"
        raise CorpusError(f"{to} cannot be made: there are no transcripts with characters in {lists}")
    if known is not None and unit == known.unit and not any(map(known.missing, texts)):
        content = known.file_text.encode()
        told = f"the {known.size} labels ({unit}) of the model to begin with, which has those of the transcripts"
    else:
        alphabet, content = made_alphabet(unit, texts)
        unseen = sorted(_labels_of(rest, alphabet) - _labels_of(learned, alphabet))
        named = " ".join(alphabet.labels[label].strip() or "space" for label in unseen[:20])
        some = f"; {len(unseen)} of them in no training transcript: {named}" if unseen else ""
        told = f"{alphabet.size} labels ({unit}) made of the transcripts{some}"
    to.parent.mkdir(parents=True, exist_ok=True)
    write_whole(to, content)
    report(f"{to}: {told}")


def _labels_of(texts: Sequence[str], alphabet: Alphabet) -> set[int]:
    return {label for text in texts if not alphabet.missing(text) for label in alphabet.encode(text).tolist()}


def _transcripts(csv_files: Sequence[Path], normalizer: Normalizer | None) -> list[str]:
    return [text for _, text, _ in read_transcripts(csv_files, normalizer)] if csv_files else []
