"""Transcripts without what corpora add to the words: spaces between Chinese or Japanese characters, marks of pauses."""

from __future__ import annotations

import re

_CHARACTER = "[\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
"""A character of Chinese or Japanese."""
_SPACE_BETWEEN = re.compile(rf"(?<={_CHARACTER}) (?={_CHARACTER})")
_PAUSE = re.compile(rf"(?<={_CHARACTER})#[1-4]")
_LAST_PAUSE = "#4"
"""Ends the sentences of Mandarin corpora for speech synthesis, such as Biaobei, after pauses #1 to #3."""


_SOUND = re.compile(r"<(?:sil|[-%$#_])>")
"""A pause, or a sound that is no word, in AISHELL-4."""


def plain_text(transcript: str) -> str:
    """Return a transcript with single spaces, but none between Chinese or Japanese characters, and no marks of sounds.

    These scripts have no spaces between words, so such spaces only show how a corpus was divided into words.
    """
    text = " ".join((_SOUND.sub(" ", transcript) if "<" in transcript else transcript).split())
    if _LAST_PAUSE in text:
        text = _PAUSE.sub("", text)
    return _SPACE_BETWEEN.sub("", text) if " " in text and not text.isascii() else text
