"""Transcripts as they are printed and written."""

from __future__ import annotations

import io

from deepspeech.cli.rendering import rendered
from deepspeech.cli.utterances.live_text import LiveText
from deepspeech.serving.transcripts import Transcript


def test_a_text_is_one_line_also_where_labels_are_line_breaks() -> None:
    spoken = Transcript("one\ntwo\r\nthree\n", (), 0.0)
    assert rendered({None: [spoken]}, "text", "a.wav") == "a.wav: one two three"
    assert rendered({0: [spoken], 1: [spoken]}, "text", "") == "channel 1: one two three\nchannel 2: one two three"
    output = io.StringIO()
    LiveText(output).finish(spoken.text)
    assert output.getvalue() == "one two three\n"
