"""Text that is shown on a terminal while it is spoken."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from deepspeech import Model
from deepspeech.cli.utterances.endpoints import print_utterances
from deepspeech.cli.utterances.live_text import ERASE_TO_END, LiveText
from deepspeech.errors import AudioError
from deepspeech.serving.endpointing import EndpointRules
from deepspeech.util.audio import read_audio


class Terminal(io.StringIO):
    """A terminal of ten columns, the last of which stays free."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three", "two three"),
        ("今天天气很好", "天气很好"),
        ("กี" * 12, "กี" * 9),  # marks take no column, and stay with their letters
        ("abcdéfghijklm".replace("é", "e\u0301"), "e\u0301fghijklm"),
        ("จุ๊", "จุ๊"),
    ],
)
def test_the_end_of_a_long_text_fills_the_line_and_begins_with_a_whole_letter(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((10, 24)))
    terminal = Terminal()
    LiveText(terminal).show(text)
    assert terminal.getvalue() == f"\r{shown}{ERASE_TO_END}"


def test_what_was_said_before_a_recording_turns_out_to_be_damaged_is_a_line(
    model: Model, recordings: list[Path]
) -> None:
    samples = read_audio(recordings[0], model.sampleRate())

    def blocks() -> Iterator[npt.NDArray[np.float32]]:
        yield samples
        raise AudioError("damaged")

    terminal = Terminal()
    with pytest.raises(AudioError):
        print_utterances(model, blocks(), EndpointRules(), None, 1600, LiveText(terminal))
    assert terminal.getvalue().endswith(f"\r{ERASE_TO_END}{model.transcribe(recordings[0]).text}\n")
