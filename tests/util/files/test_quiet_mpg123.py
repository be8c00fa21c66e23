"""Reading mp3s prints no lines of libmpg123, and loses no lines of other libraries."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other C libraries keep their standard error")

SCRIPT = """
import ctypes, logging, sys
from deepspeech.cli.arguments import run_command
from deepspeech.util.audio import read_audio
from deepspeech.util.parallel import ordered_map

def read(name):
    try:
        return len(read_audio(name, 16000))
    except Exception as error:
        sys.stderr.write(f"{error}\\n")

def command():
    for _ in ordered_map(read, sys.argv[1:] * 20, 4, 8):
        logging.warning("ours")
    ctypes.CDLL(None).fputs(b"of another library\\n", ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stderr"))

sys.exit(run_command(command))
"""

PRINTED_WHILE_PYTHON_IS_LOCKED = """
import ctypes, sys
from deepspeech.cli.arguments import run_command

def command():
    libc = ctypes.PyDLL(None)  # its functions are called without releasing Python's lock
    thread = ctypes.c_void_p()
    libc.pthread_create(ctypes.byref(thread), None, libc.perror, ctypes.c_char_p(b"of another library"))
    libc.pthread_join(thread, None)

sys.exit(run_command(command))
"""

PRINTED_IN_PIECES = """
import ctypes
from deepspeech.util.files.quiet_mpg123 import without_mpg123s_lines

libc = ctypes.CDLL(None)
with without_mpg123s_lines():
    stderr = ctypes.c_void_p.in_dll(libc, "stderr")
    for piece in (b"Note: Trying to resync", b" (may", b"be)\\n", b"of another ", b"library\\n",
                  b"Note: Hit end of", b" file\\nand a last line\\n"):
        libc.fputs(piece, stderr)
"""


@pytest.fixture
def mp3s(tmp_path: Path) -> list[Path]:
    """Return an mp3 with a damaged tag, one that is cut off, one with noise inside, and noise alone."""
    whole = tmp_path / "whole.mp3"
    soundfile.write(whole, np.sin(np.arange(48000) / 10) * 0.3, 16000, format="MP3")
    sound, noise = whole.read_bytes(), np.random.default_rng(1).bytes(3000)
    comment = b"\x01eng\xff"
    frame = b"COMM" + len(comment).to_bytes(4, "big") + bytes(2) + comment
    contents = {
        "tag": b"ID3\x03" + bytes([0, 0, 0, 0, 0, len(frame)]) + frame + sound,
        "cut": sound[:2000],
        "inside": sound[:2000] + noise + sound[2000:],
        "noise": noise,
    }
    for name, content in contents.items():
        (tmp_path / f"{name}.mp3").write_bytes(content)
    return [tmp_path / f"{name}.mp3" for name in contents]


def test_mp3s_are_read_without_a_line_of_the_decoders(mp3s: list[Path]) -> None:
    command = [sys.executable, "-c", SCRIPT, *map(str, mp3s)]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=600).stderr.splitlines()
    others = [line for line in lines if not line.startswith(tuple(map(str, mp3s)))]
    assert others == ["WARNING:root:ours"] * 80 + ["of another library"]
    assert {line.split(":")[0] for line in lines} >= {str(mp3s[3])}


def test_other_libraries_can_print_while_no_python_can_run() -> None:
    command = [sys.executable, "-c", PRINTED_WHILE_PYTHON_IS_LOCKED]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "of another library: Success\n")


def test_a_line_that_is_printed_in_pieces_is_dropped_to_its_end() -> None:
    """As newer C libraries print long lines."""
    command = [sys.executable, "-c", PRINTED_IN_PIECES]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "of another library\nand a last line\n")
