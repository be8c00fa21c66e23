"""The published client of Coqui STT 1.4 gets the same transcript from a LiteRT file as we do from the graph."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deepspeech import Model
from deepspeech.util.audio import read_audio

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")


@pytest.fixture(scope="module")
def client(shared: Path) -> Path:
    """Return the program that runs the client, if its library is available."""
    program = shared / "tools/published_stt_client.py"
    library = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stt-1.4.0-client/stt/lib/libstt.so"
    if not library.is_file():  # the program fetches it before it looks at the model
        subprocess.run([sys.executable, str(program), "--model=none", "--audio=none"], capture_output=True, check=False)
    if not library.is_file():
        pytest.skip("the published client cannot be had")
    return program


def test_the_published_client_hears_what_we_hear(
    client: Path, tflite_file: Path, model: Model, recordings: list[Path]
) -> None:
    for recording, way in ((recordings[0], []), (recordings[1], ["--stream"])):
        command = [sys.executable, str(client), f"--model={tflite_file}", f"--audio={recording}", *way]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        said = json.loads(finished.stdout)
        assert said["sample_rate"] == 16_000
        assert said["text"] == model.stt((read_audio(recording, 16_000) * 32768).round().astype("int16"))
