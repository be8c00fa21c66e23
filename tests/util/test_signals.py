import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SWALLOWING = """
import os, signal, sys
from deepspeech.util.signals import ended_by_signals
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run below nohup
with ended_by_signals():
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
        sum(range(1000))
    except BaseException as error:
        raise SystemError("as TensorFlow does") from error
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_where_there_is_nothing_to_save_a_signal_ends_the_process_in_one_line(sent: signal.Signals) -> None:
    command = [sys.executable, "-c", SWALLOWING, str(int(sent))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 128 + sent
    assert done.stderr == "deepspeech: interrupted; there was nothing to save\n"


@pytest.mark.parametrize(
    ("code", "ends_with"),
    [
        (SWALLOWING, 128 + signal.SIGHUP),
        ("from deepspeech.cluster.node import end_hard_later; end_hard_later('', 0, 143)", 143),
    ],
)
def test_a_process_whose_terminal_is_gone_ends_with_the_same_code(code: str, ends_with: int) -> None:
    command = [sys.executable, "-c", f"{code}\nimport time\ntime.sleep(60)", str(int(signal.SIGHUP))]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait(timeout=50) == ends_with


def test_that_it_was_stopped_is_a_warning_in_a_log_of_json() -> None:
    as_json = (
        "import logging; from deepspeech.util.monitoring.log_lines import JSONLines\n"
        "handler = logging.StreamHandler(); handler.setFormatter(JSONLines(lambda: 'ps 0'))\n"
        "logging.getLogger('deepspeech').addHandler(handler)\n"
    )
    command = [sys.executable, "-c", as_json + SWALLOWING, str(int(signal.SIGTERM))]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=600).stderr)
    assert (told["level"], told["message"]) == ("warning", "interrupted; there was nothing to save")


UNFINISHED = """
import os, signal, sys
from pathlib import Path
from deepspeech.cli.arguments import run_tool
from deepspeech.util.files.whole_files import written_whole
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run below nohup
def work():
    with written_whole(Path(sys.argv[2])) as beside:
        beside.write_text("half")
        try:
            os.kill(os.getpid(), int(sys.argv[1]))
            sum(range(1000))
        finally:
            os.kill(os.getpid(), int(sys.argv[1]))  # the second one, of `timeout`, while files are removed
sys.exit(run_tool(work, "import_corpus"))
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_tool_that_is_terminated_leaves_no_unfinished_file(tmp_path: Path, sent: signal.Signals) -> None:
    command = [sys.executable, "-c", UNFINISHED, str(int(sent)), str(tmp_path / "train.csv")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (128 + sent, "import_corpus: terminated\n")
    assert not list(tmp_path.iterdir())
