"""The sample of TIMIT, LDC93S1: one recording with a transcript file, or any other pair of that kind.

The transcript is one line: the numbers of the first and last sample, then the words.
"""

import re
from pathlib import Path

from ..corpus_files.lines import read_text
from ..errors import ImportingError
from ..progress import Report
from ..transcripts import Normalizer
from .corpus_csv import is_whole, write_corpus

CSV_FILE = "ldc93s1.csv"
WAV_FILE, TRANSCRIPT_FILE = "LDC93S1.wav", "LDC93S1.txt"


def import_corpus(out: Path, source: Path | None, report: Report) -> None:
    """Write OUT/ldc93s1.csv, a corpus of one utterance, from the recording and the transcript in the folder `source`.

    Raise ImportingError, or OSError.
    """
    if source is None and is_whole(out / CSV_FILE):
        return
    if source is None:
        raise ImportingError(
            f"the corpus ldc93s1 cannot be downloaded; name the folder of {WAV_FILE} and {TRANSCRIPT_FILE} with --from"
        )
    for name in (WAV_FILE, TRANSCRIPT_FILE):
        if not (source / name).is_file():
            raise ImportingError(f"there is no file {source / name}; the corpus is {WAV_FILE} and {TRANSCRIPT_FILE}")
    import_recording(out, source / WAV_FILE, source / TRANSCRIPT_FILE)
    report(f"{out / CSV_FILE}: 1 utterance")


def import_recording(out: Path, wav: Path, transcript: Path) -> str:
    """Write OUT/ldc93s1.csv, a corpus of only this recording, and return the transcript that it contains.

    Raise ImportingError, or OSError.
    """
    try:
        text = normalize(read_text(transcript))
    except UnicodeDecodeError:
        raise ImportingError(f"{transcript} is not UTF-8; convert it first") from None
    if not text:
        raise ImportingError(f"{transcript} has no words in it")
    write_corpus(out / CSV_FILE, [(wav, text)])
    return text


def normalize(line: str) -> str:
    """Return the words of a transcript line, '0 46797 She had.' -> 'she had'."""
    return Normalizer()(re.sub(r"^\s*\d+\s+\d+\s", "", line))
