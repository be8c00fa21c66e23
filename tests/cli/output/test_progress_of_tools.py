"""The lines that tools write about their progress where stderr is no terminal, as in the log of a job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = """
import sys
from deepspeech.cli.arguments import run_tool
from deepspeech.util.progress import Progress
def work():
    now = [0.0]
    with Progress("Copying", 2, unit="row", clock=lambda: now[0]) as progress:
        now[0] = 40.0
        progress.advance()
        now[0] = 80.0
sys.exit(run_tool(work, "tool"))
"""


def test_tools_show_their_progress_in_lines_where_stderr_is_no_terminal() -> None:
    done = subprocess.run([sys.executable, "-c", TOOL], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "I Copying: 50 % of 2 rows, 0.025 rows/s, 40 s left",
        "I Copying: 1 row in 80.0 s, 0.0125 rows/s",
    ]


def test_a_calibration_shows_its_progress(graph_file: Path, recordings: list[Path], tmp_path: Path) -> None:
    dev = tmp_path / "dev.csv"
    dev.write_text(f"wav_filename,wav_filesize,transcript\n{recordings[0]},1,a\n")
    command = [sys.executable, "-m", "deepspeech.calibrate", f"--model={graph_file}", f"--dev_files={dev}"]
    done = subprocess.run([*command, "--report_only"], capture_output=True, text=True, timeout=600)
    lines = done.stderr.splitlines()
    assert [line.split(" in ")[0] for line in lines[:2]] == [f"I Checking {dev}: 1 row", "I Transcribing: 1 utterance"]
    assert done.returncode == 1
    assert "a calibration needs" in lines[2]
