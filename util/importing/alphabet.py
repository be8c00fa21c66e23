"""The alphabet of a corpus, made of its transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..corpus_files import read_transcripts
from ..errors import CorpusError
from ..files.whole_files import write_whole
from ..output_units import WordPieceAlphabet
from ..output_units.making import made_alphabet
from ..progress import Report
from ..transcripts import Normalizer


def make_alphabet(
    unit: str,
    training: Sequence[Path],
    others: Sequence[Sequence[Path]],
    to: Path,
    normalizer: Normalizer | None,
    report: Report,
) -> None:
    """Write the alphabet of the transcripts of CSV files, whose labels are an output unit's, to the file `to`.

    Characters that only `others` have, the CSVs of dev and those of test, are labels, too: no row is left out for them,
    and they are reported, as nothing can be learned of them. Word pieces are chosen by the training set alone but for
    these.
    Raise CorpusError if there are no characters, or a file cannot be read, and AlphabetError if the unit cannot have
    such an alphabet.
    """
    learned = _transcripts(training, normalizer)
    rest = [text for csv_files in others for text in _transcripts(csv_files, normalizer)]
    if unit == WordPieceAlphabet.unit:
        rest = sorted(set("".join(rest)) - set("".join(learned)))
    texts = [*learned, *rest]
    if not "".join(texts).strip():
        lists = ", ".join(map(str, training)) or "the lists of the training set"
        raise CorpusError(f"{to} cannot be made: there are no transcripts with characters in {lists}")
    alphabet, content = made_alphabet(unit, texts)
    seen = {label for text in learned if not alphabet.missing(text) for label in alphabet.encode(text).tolist()}
    unseen = [text for label, text in enumerate(alphabet.labels) if label not in seen]
    some = f"; {len(unseen)} of them in no training transcript: {' '.join(unseen[:20])}" if unseen else ""
    to.parent.mkdir(parents=True, exist_ok=True)
    write_whole(to, content)
    report(f"{to}: {alphabet.size} labels ({unit}) made of the transcripts{some}")


def _transcripts(csv_files: Sequence[Path], normalizer: Normalizer | None) -> list[str]:
    return [text for _, text, _ in read_transcripts(csv_files, normalizer)] if csv_files else []
