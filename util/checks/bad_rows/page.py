"""The page of HTML of the rows to check: what is written, what is heard, and the recording to play."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

import soundfile

from ...audio import read_audio
from ...corpus import Utterance
from ...errors import AudioError, StorageError
from ...files.whole_files import write_text_whole
from .ranking import RankedRow

MOST_ROWS = 200
"""The most rows of a page, as it contains their recordings."""
SAMPLE_RATE = 16_000

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rows to look at</title><style>
body { font: 16px/1.4 system-ui, sans-serif; margin: 1rem auto; max-width: 60rem; padding: 0 1rem; }
article { border-top: 1px solid #999; padding: .7rem 0; }
audio { width: 100%; }
p { margin: .2rem 0; }
.where, .figures { color: #666; font-size: .85rem; word-break: break-all; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #eee; } .where, .figures { color: #aaa; } }
</style></head><body><h1>Rows to look at</h1>
"""


def write_page(rows: Sequence[RankedRow], checked: int, path: Path) -> None:
    """Write the first `MOST_ROWS` rows of a corpus of `checked` rows, with their recordings as MP3. Raise OSError.

    The page needs no other file.
    """
    shown = rows[:MOST_ROWS]
    summary = f"The {len(shown)} rows that stand out most, of {checked} that were checked, worst first."
    articles = (_article(number, row) for number, row in enumerate(shown, start=1))
    write_text_whole(path, "".join([_HEAD, f"<p>{summary}</p>\n", *articles, "</body></html>\n"]))


def _article(number: int, row: RankedRow) -> str:
    figures, utterance = row.figures, row.figures.utterance
    edits = figures.edits
    return (
        f"<article><p>{number}. written: <b dir=auto>{escape(utterance.transcript)}</b></p>\n"
        f"<p>heard: <b dir=auto>{escape(figures.hypothesis) or '(nothing)'}</b></p>\n"
        f"{_player(utterance)}\n"
        f"<p class=figures>{edits.character_edits} edits of {edits.characters} characters, loss per label "
        f"{figures.loss_per_label:.2f}, longest stretch without a label {figures.longest_gap:.2f} s</p>\n"
        f"<p class=where>{escape(utterance.source)}: {escape(utterance.place)}</p></article>\n"
    )


def _player(utterance: Utterance) -> str:
    try:
        samples = read_audio(utterance.path, SAMPLE_RATE, utterance.part)
    except (AudioError, StorageError) as error:
        return f"<p>{escape(str(error))}</p>"
    file = io.BytesIO()
    soundfile.write(file, samples, SAMPLE_RATE, format="MP3")
    return f'<audio controls preload="none" src="data:audio/mpeg;base64,{b64encode(file.getvalue()).decode()}"></audio>'
