"""How a cluster ends: every process by itself, with code 0, soon after the last job."""

import signal
import time
from collections.abc import Sequence

from nodes import PATIENCE, Cluster, side_by_side
from program import Program

LEASE = 240.0
"""Seconds of a lease; the end takes less, because every node announces that it leaves."""

LONGEST_END = LEASE / 2
"""Seconds from the last job that was counted to the end of the last process, on a busy machine."""

HELD_UP = 3.0
"""Seconds for which a node is suspended, so that it ends last or keeps the others waiting: less than a lease."""


def seconds_to_end(cluster: Cluster, held_up: Sequence[str], late: Sequence[str]) -> dict[str, float]:
    """Return when each process ended after the last job, while some are suspended and `late` ones come back."""
    ended: dict[str, float] = {}
    away: set[str] = set()
    counted, last_counted, over = 0, 0.0, False
    deadline = time.monotonic() + PATIENCE
    while len(ended) < len(cluster.names) and time.monotonic() < deadline:
        log, now = cluster.log("worker 0"), time.monotonic()
        if log.count("counted:") > counted:
            counted, last_counted = log.count("counted:"), now
        if counted and not over and not away:
            away = set(late)
            for name in away:
                cluster.processes[name].send_signal(signal.SIGTERM)
                cluster.wait(name)
        if "Test: loss" in log and not over:
            over = True
            while away:
                cluster.start(away.pop())
            for name in held_up:
                cluster.processes[name].send_signal(signal.SIGSTOP)
        if over and now > last_counted + HELD_UP:
            for name in held_up:
                cluster.processes[name].send_signal(signal.SIGCONT)
        for name, process in cluster.processes.items():
            if name not in ended and name not in away and process.poll() is not None:
                ended[name] = now
        time.sleep(0.05)
    return {name: at - last_counted for name, at in ended.items()}


ENDS = {
    "the chief is last": (["ps 0", "worker 1", "worker 0"], [], ["worker 0"]),
    "the parameter server is last": (["worker 1", "worker 0", "ps 0"], [], ["ps 0"]),
    "a worker is last": (["worker 0", "ps 0", "worker 1"], [], ["worker 1"]),
    "a worker comes back": (["ps 0", "worker 0", "worker 1"], ["worker 1"], []),
}
"""In which order nodes start, which of them are late, and which are held up."""


def test_every_process_ends_soon_after_the_last_job(program: Program) -> None:
    def check(program: Program, end: str) -> None:
        first, late, held_up = ENDS[end]
        arguments = [*program.training(epoch=4, coord_lease_secs=LEASE), *program.test_files(), "--log_traffic"]
        with Cluster(program, arguments) as cluster:
            for name in first:
                cluster.start(name)
                time.sleep(0.5)
            seconds = seconds_to_end(cluster, held_up, late)
            assert set(seconds) == set(cluster.names), cluster.logs()
            assert max(seconds.values()) < LONGEST_END, seconds
            assert cluster.wait() == [0, 0, 0], cluster.logs()

    side_by_side(program, list(ENDS), check)


def test_a_signal_that_comes_when_the_chief_waits_for_the_others_to_leave_ends_it_before_it_exports(
    program: Program,
) -> None:
    exported = program.folder / "export"
    arguments = [*program.training(epoch=1), *program.test_files(), f"--export_dir={exported}"]
    with Cluster(program, arguments, workers=1) as cluster:
        cluster.start()
        cluster.until(lambda: "Test: loss" in cluster.log("worker 0"))
        cluster.processes["ps 0"].send_signal(signal.SIGSTOP)
        cluster.wait_for(lambda status: status["phase"] == "over")
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        time.sleep(HELD_UP)
        cluster.processes["ps 0"].send_signal(signal.SIGCONT)
        assert cluster.wait() == [0, 143], cluster.logs()
        assert cluster.errors("worker 0")[-1] == (
            "deepspeech: interrupted; nothing is lost: run the same command again to resume"
        )
        assert not exported.exists()
