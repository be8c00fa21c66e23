import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import atexit, sys, threading, time
from deepspeech.commands import ProcessEnd

def main():
    import numpy as np
    from deepspeech import _ctcdecoder as compiled
    labels = compiled.Labels([" ", "a", "b"], [0, 1, 2], 3)
    decoder = compiled.Decoder(labels, compiled.DecoderOptions(), None)
    posteriors = np.full((20000, 4), 0.25, np.float32)
    decoder.decode(posteriors[:10])
    def decode():
        while True:
            decoder.decode(posteriors)
    threading.Thread(target=decode, daemon=True).start()
    class Slow:  # a part of the interpreter that takes its time to be taken down
        def __del__(self, sleep=time.sleep):
            sleep(3)
    sys.slow = Slow()
    atexit.register(print, "said at the exit")
    print("said before")
    return 7

end = ProcessEnd()
sys.exit(MAIN)
"""


def run(main: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.replace("MAIN", main)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_a_process_ends_with_its_code_and_output_while_a_thread_is_in_compiled_code() -> None:
    ended = run("end.code_of(main)")
    assert (ended.returncode, ended.stderr) == (7, "")
    assert ended.stdout.splitlines() == ["said before", "said at the exit"]


def test_a_process_that_raises_an_error_ends_as_python_ends_it() -> None:
    ended = run("end.code_of(lambda: {}['missing'])")
    assert ended.returncode == 1
    assert "KeyError: 'missing'" in ended.stderr


def test_output_that_cannot_be_written_is_reported() -> None:
    program = PROGRAM.replace("MAIN", "end.code_of(lambda: print('lost') or 0)")
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, env=buffered
        )
    assert ended.returncode == 120
    assert "No space left" in ended.stderr
