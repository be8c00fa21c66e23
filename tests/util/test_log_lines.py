"""Lines of the log, as text and as JSON."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.importing import import_corpus
from deepspeech.util.monitoring.log_lines import JSONLines, last_words, text_handler
from deepspeech.util.progress import report


@pytest.fixture
def handler() -> Iterator[logging.Handler]:
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("deepspeech")
    before, logger.handlers = logger.handlers, [handler]
    yield handler
    logger.handlers = before


def test_each_record_is_an_object_on_a_line_of_its_own(
    handler: logging.Handler, capsys: pytest.CaptureFixture[str]
) -> None:
    handler.setStream(sys.stderr)  # type: ignore[attr-defined]
    handler.setFormatter(JSONLines(lambda: "worker 1"))
    logger = logging.getLogger("deepspeech.cluster.chief")
    logger.error("two\nlines of “%s”", "text")
    try:
        raise ValueError("why")
    except ValueError:
        logger.exception("failed")
    one, other = map(json.loads, capsys.readouterr().err.splitlines())
    assert one == {
        **{"level": "error", "logger": "deepspeech.cluster.chief", "node": "worker 1", "time": one["time"]},
        "message": "two\nlines of “text”",
    }
    assert one["time"].endswith("+00:00")
    assert other["exception"].endswith("ValueError: why")


def test_names_of_files_are_no_commands_for_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    name = "caf\u00e9\t\x1b]0;title\x07\x1b[2J\x9b1m\r.wav"
    shown = "caf\u00e9\t\\x1b]0;title\\x07\\x1b[2J\\x9b1m\\x0d.wav"
    assert last_words(f"{name}:\nwhy") == f"deepspeech: {shown}:\nwhy"
    report(name)
    record = logging.LogRecord("a", logging.WARNING, "b", 1, "%s: not read", (name,), None)
    assert (capsys.readouterr().err, text_handler().format(record)) == (f"{shown}\n", f"W {shown}: not read")


def test_commands_write_their_progress_but_of_other_libraries_only_warnings() -> None:
    code = """
import logging
from deepspeech.util.monitoring.log_lines import log_progress
log_progress()
logging.getLogger("matplotlib.font_manager").info("generated new fontManager")
logging.getLogger("matplotlib.font_manager").warning("there is no font")
logging.getLogger("deepspeech.util.progress").info("12 rows")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "W there is no font\nI 12 rows\n"


def test_last_words_have_the_form_of_the_log(handler: logging.Handler) -> None:
    assert last_words("why") == "deepspeech: why"
    assert last_words("why", "deepspeech-server") == "deepspeech-server: why"
    handler.setFormatter(JSONLines(lambda: "ps 0"))
    told = json.loads(last_words("why"))
    assert (told["message"], told["level"], told["node"], told["logger"]) == ("why", "error", "ps 0", "deepspeech")


def test_what_an_import_tells_has_the_form_of_the_log(
    handler: logging.Handler, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    samples = np.random.default_rng(1).normal(0, 0.1, 16000)
    for name in ("a", "b", "c"):
        soundfile.write(tmp_path / f"{name}.wav", samples, 16000)
        (tmp_path / f"{name}.txt").write_text("yes")
    (tmp_path / "c.txt").write_text("")
    for form, is_json in ((logging.Formatter(), False), (JSONLines(lambda: "localhost"), True)):
        handler.setFormatter(form)
        import_corpus("folder", tmp_path / str(is_json), tmp_path)
        lines = capsys.readouterr().err.splitlines()
        assert any("c.txt" in line for line in lines)
        assert [line.startswith('{"time": ') for line in lines] == [is_json] * len(lines)
    assert {json.loads(line)["level"] for line in lines} == {"info"}


@pytest.mark.parametrize(
    ("library", "program", "flags"),
    [
        ("fsspec", "train", ["--train_files=s3://bucket/train.csv", "--validation_step=0"]),
        ("uvicorn", "server", ["--model=output_graph.pb"]),
    ],
)
def test_whatever_else_a_program_says_is_on_lines_of_json_too(
    tmp_path: Path, library: str, program: str, flags: list[str]
) -> None:
    (tmp_path / f"{library}.py").write_text(
        "import logging, threading, warnings\n"
        "warnings.warn('of Python')\n"
        "logging.getLogger('some.library').warning('of a library')\n"
        "thread = threading.Thread(target=lambda: 1 / 0, name='one')\n"
        "thread.start()\n"
        "thread.join()\n"
        "raise ValueError('in the main thread')\n"
    )
    code = f"import sys; from deepspeech.commands import {program}; sys.exit({program}())"
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code, *flags, "--log_format=json"]
    (tmp_path / "output_graph.pb").touch()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    warned, logged, in_thread, last = map(json.loads, done.stderr.splitlines())
    assert done.returncode == 1
    assert "of Python" in warned["message"] and (logged["message"], logged["logger"]) == (
        "of a library",
        "some.library",
    )
    assert "ZeroDivisionError" in in_thread["exception"] and in_thread["message"] == "the thread one has failed"
    assert last["exception"].endswith("ValueError: in the main thread") and last["level"] == "critical"
