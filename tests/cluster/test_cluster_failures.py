import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from shutil import copy

import pytest
from corpora import write_alphabet
from nodes import Cluster, steps_counted
from program import Program

from benchmarks.processes.ports import free_ports

ROOT = Path(__file__).parents[2]


def endless(program: Program, **changes: object) -> list[str]:
    return program.training(**{"epoch": 5000, "train_batch_size": 2, "checkpoint_secs": 2, **changes})


def test_a_worker_that_hangs_loses_its_jobs_and_one_that_does_not_fit_is_refused(program: Program) -> None:
    with Cluster(program, endless(program, coord_lease_secs=2), workers=5) as cluster:
        cluster.start("ps 0", "worker 0", "worker 1")
        cluster.wait_for(lambda status: len(status["members"]) == 3 and status["counts"]["steps"] > 5)
        cluster.processes["worker 1"].send_signal(signal.SIGSTOP)
        lost = cluster.wait_for(lambda status: len(status["members"]) == 2)
        cluster.wait_for(steps_counted(lost["counts"]["steps"] + 5))
        cluster.processes["worker 1"].send_signal(signal.SIGCONT)
        cluster.wait_for(lambda status: len(status["members"]) == 3)
        other = write_alphabet(program.folder / "other.txt", " edcba")
        refused = {
            "worker 1": ("--n_hidden=64", "its --n_hidden is 64, the chief's 48"),
            "worker 2": ("--limit_train=20", "its train corpus is"),
            "worker 3": ("--augment=volume", "its --augment is volume with --random_seed=4567 and --epoch="),
            "worker 4": (f"--alphabet_config_path={other}", "its alphabet is"),
        }
        cluster.kill("worker 1")
        for name, (flag, _) in refused.items():
            cluster.start(name, flags=[flag])
        assert cluster.wait(*refused) == [1] * 4
        for name, (_, difference) in refused.items():
            assert difference in cluster.errors(name)[-1]
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        assert cluster.wait("worker 0", "ps 0") == [128 + signal.SIGTERM] * 2


def test_a_loss_that_is_not_finite_at_one_worker_ends_them_all_with_the_reason(
    program: Program, tmp_path: Path
) -> None:
    _, rows = recording_of_a_name_that_is_not_utf_8(program, tmp_path)
    with Cluster(program, endless(program, learning_rate=1e30, train_files=rows)) as cluster:
        cluster.start()
        assert cluster.wait(seconds=120) == [1, 1, 1], cluster.logs()
        for name in cluster.names:
            assert re.search(r"is not finite .*caf\\udce9\.wav", cluster.errors(name)[-1])


def test_a_recording_that_is_gone_ends_all_with_the_reason(program: Program, tmp_path: Path) -> None:
    recording, rows = recording_of_a_name_that_is_not_utf_8(program, tmp_path)
    with Cluster(program, endless(program, train_files=rows)) as cluster:
        cluster.start()
        cluster.wait_for(steps_counted(5))
        recording.unlink()
        assert cluster.wait(seconds=120) == [1, 1, 1], cluster.logs()
        for name in cluster.names:
            assert "caf\\udce9.wav: No such file" in cluster.errors(name)[-1]


def recording_of_a_name_that_is_not_utf_8(program: Program, folder: Path) -> tuple[Path, Path]:
    """Return a recording, whose name is not UTF-8, and a manifest with eight rows of it."""
    recording, rows = folder / os.fsdecode(b"caf\xe9.wav"), folder / "rows.jsonl"
    copy(program.corpus.train.parent / "wav/train-0.wav", recording)
    rows.write_text(f"{json.dumps({'audio_filepath': recording.name, 'text': 'ab'})}\n" * 8)
    return recording, rows


def test_a_parameter_server_that_does_not_come_ends_all_in_time_with_the_reason(program: Program) -> None:
    with Cluster(program, endless(program)) as cluster:
        cluster.start("worker 1")
        cluster.start("worker 0", flags=["--coord_retries=12"])
        assert cluster.wait() == [1, 1], cluster.logs()
        for name in ("worker 0", "worker 1"):
            assert re.search(r"parameter server 0 \(localhost:\d+\) did not come", cluster.errors(name)[-1])


def test_a_parameter_server_that_has_joined_but_cannot_be_reached_ends_all_in_time_with_the_reason(
    program: Program,
) -> None:
    with Cluster(program, endless(program), workers=1) as cluster:
        cluster.start("ps 0")
        closed, *_ = free_ports(1)
        cluster.start("worker 0", flags=["--coord_retries=6", f"--ps_hosts=localhost:{closed}"])
        assert cluster.wait() == [1, 1], cluster.logs()
        for name in cluster.names:
            error = cluster.errors(name)[-1]
            assert f"parameter server 0 has joined, but localhost:{closed} cannot be reached from here (Conn" in error


def test_a_worker_that_cannot_reach_a_parameter_server_says_so_and_holds_up_nobody(program: Program) -> None:
    with Cluster(program, endless(program, coord_lease_secs=2)) as cluster:
        cluster.start("ps 0", "worker 0")
        closed, *_ = free_ports(1)
        cluster.start("worker 1", flags=[f"--ps_hosts=localhost:{closed}"])
        warned = f"W Parameter server 0 has joined, but localhost:{closed} cannot be reached from here (Conn"
        cluster.until(lambda: warned in cluster.log("worker 1"))
        cluster.wait_for(steps_counted(cluster.status()["counts"]["steps"] + 30))
        assert cluster.processes["worker 1"].poll() is None


def test_without_a_chief_the_others_end_with_the_reason(program: Program) -> None:
    with Cluster(program, endless(program, coord_retries=4)) as cluster:
        cluster.start("worker 1", "ps 0")
        assert cluster.wait() == [1, 1], cluster.logs()
        for name in ("worker 1", "ps 0"):
            assert "could not be reached for 2 s" in cluster.errors(name)[-1]


def test_a_coordinators_port_that_is_taken_is_named(program: Program) -> None:
    with Cluster(program, endless(program)) as cluster, socket.create_server(("127.0.0.1", cluster.port)):
        cluster.start("worker 0")
        assert cluster.wait() == [1]
        assert f"--coord_port={cluster.port}: the coordinator cannot listen" in cluster.errors("worker 0")[-1]


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--coord_host=0.0.0.0", "--worker_hosts=a:1", "--ps_hosts=b:1", "--job_name=ps"], "needs a secret"),
        (
            ["--worker_hosts=a:1", "--job_name=worker"],
            "needs both, the same on every node, or --worker_hosts alone and --sync",
        ),
        (["--worker_hosts=a:1", "--ps_hosts=b:1", "--job_name=ps", "--task_index=1"], "--task_index=1: must be 0 to 0"),
        (["--worker_hosts=a", "--ps_hosts=b:1", "--job_name=ps"], "--worker_hosts: 'a' is not a host and port"),
        (["--worker_hosts=a:1,b:1,a:1", "--ps_hosts=b:2", "--job_name=ps"], "--worker_hosts: a:1 is given twice"),
        (["--worker_hosts=a:1", "--ps_hosts=b:1"], "--job_name: give the role of this node"),
        (["--coord_host=.train"], "--coord_host: '.train' is not the name or the address"),  # of ${UNSET}.train
        (["--coord_host="], "--coord_host: '' is not the name or the address"),
        (["--coord_host=[fd00::2]"], "'[fd00::2]' is not the name or the address of a machine; write fd00::2"),
        (["--coord_host=a:2500"], "--coord_host: 'a:2500' is not the name or the address"),
        (["--probe_port=8081", "--probe_host=a..b"], "--probe_host: 'a..b' is not the name or the address"),
    ],
)
def test_a_node_that_is_told_nonsense_says_so_in_one_line(program: Program, flags: list[str], reason: str) -> None:
    finished = program.run(*program.training(), *flags)
    assert finished.code == 1
    assert reason in finished.error


def test_the_script_trains_on_a_cluster_of_this_machine(program: Program) -> None:
    base, *_, coordinator = free_ports(3)
    environment = {**os.environ, "BASE_PORT": str(base), "PYTHON": sys.executable}
    flags = [*program.training(epoch=1), f"--coord_port={coordinator}"]
    command = [str(ROOT / "bin/run-cluster.sh"), "1:1", "--", *flags]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert finished.returncode == 0, finished.stderr
    assert "[worker 0] I Training of epoch 1" in finished.stderr


def test_the_script_waits_for_what_the_others_say_when_a_node_fails_and_ends_with_its_code(tmp_path: Path) -> None:
    node = tmp_path / "python"
    node.write_text(
        """#!/bin/sh
        case "$*" in *"worker --task_index 1"*) echo "out of memory" >&2; exit 1 ;; esac
        sleep 0.5
        echo "training has failed" >&2
        exit 1
        """
    )
    node.chmod(0o755)
    command, environment = [str(ROOT / "bin/run-cluster.sh"), "1:2", "--"], {**os.environ, "PYTHON": str(node)}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert finished.returncode == 1
    assert sorted(finished.stderr.splitlines()) == [
        "[ps 0] training has failed",
        "[worker 0] training has failed",
        "[worker 1] out of memory",
    ]


SERVED = "--ps_hosts localhost:4000,localhost:4001 --worker_hosts localhost:4002,localhost:4003"
ALONE = "--sync allreduce --worker_hosts localhost:4000,localhost:4001"
WORKERS = (("worker", 0, "0,1"), ("worker", 1, "2,3"))


@pytest.mark.parametrize(
    ("size", "cluster", "nodes"),
    [("2:2:2", SERVED, (("ps", 0, ""), ("ps", 1, ""), *WORKERS)), ("0:2:2", ALONE, WORKERS)],
)
def test_the_script_gives_every_node_its_place_and_every_worker_devices_of_its_own(
    tmp_path: Path, size: str, cluster: str, nodes: Sequence[tuple[str, int, str]]
) -> None:
    shown = tmp_path / "python"
    shown.write_text('#!/bin/sh\necho "devices=$CUDA_VISIBLE_DEVICES" "$@" >&2\n')
    shown.chmod(0o755)
    environment = {**os.environ, "BASE_PORT": "4000", "PYTHON": str(shown)}
    command = [str(ROOT / "bin/run-cluster.sh"), size, "--", "--epoch=7"]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=True)
    assert sorted(finished.stderr.splitlines()) == [
        f"[{job} {task}] devices={devices} -m deepspeech {cluster} --job_name {job} --task_index {task} --epoch=7"
        for job, task, devices in nodes
    ]


@pytest.mark.parametrize(("of_chief", "of_others", "code"), [(143, 143, 143), (0, 143, 0), (143, 1, 1)])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_the_script_tells_nodes_that_were_stopped_from_those_that_failed(
    tmp_path: Path, of_chief: int, of_others: int, code: int, sent: signal.Signals
) -> None:
    node = tmp_path / "python"
    node.write_text(
        f"""#!/bin/sh
        case "$*" in *"worker --task_index 0"*) code={of_chief} ;; *) exit {of_others} ;; esac
        trap 'exit '$code TERM
        echo waiting >&2
        while :; do sleep 0.1; done
        """
    )
    node.chmod(0o755)
    environment = {**os.environ, "PYTHON": str(node)}
    listening = ["env", "--default-signal=HUP"]  # the tests may run below nohup
    command = [*listening, str(ROOT / "bin/run-cluster.sh"), "1:2", "--"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as script:
        assert script.stderr is not None
        assert script.stderr.readline() == "[worker 0] waiting\n"
        script.send_signal(sent)
        assert script.wait(600) == code


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_script_shows_the_last_words_of_nodes_where_a_signal_reaches_all_its_processes(
    tmp_path: Path, sent: signal.Signals
) -> None:
    node = tmp_path / "python"
    node.write_text(
        """#!/bin/sh
        trap 'sleep 0.2; echo saved >&2; exit 143' TERM HUP
        echo waiting >&2
        while :; do sleep 0.1; done
        """
    )
    node.chmod(0o755)
    command = ["env", "--default-signal", str(ROOT / "bin/run-cluster.sh"), "0:1", "--"]
    environment = {**os.environ, "PYTHON": str(node)}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as script:
        assert script.stderr is not None
        assert script.stderr.readline() == "[worker 0] waiting\n"
        os.killpg(script.pid, sent)
        assert script.wait(600) == 143
        assert "[worker 0] saved\n" in script.stderr.read()


def test_signals_while_the_script_starts_nodes_stop_the_chief_as_later_ones_do(tmp_path: Path) -> None:
    node = tmp_path / "python"
    node.write_text(
        """#!/bin/sh
        case "$*" in *"worker --task_index 0 "*) ;; *) exit 143 ;; esac
        trap 'exit 143' TERM
        echo waiting >&2
        while :; do sleep 0.1; done
        """
    )
    node.chmod(0o755)
    command = [str(ROOT / "bin/run-cluster.sh"), "1:20", "--", "--epoch=7"]
    environment = {**os.environ, "PYTHON": str(node)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as script:
        assert script.stderr is not None
        said = script.stderr.readline()
        for _ in range(100):
            script.terminate()
            time.sleep(0.001)
        said += script.stderr.read()
        assert (script.wait(600), said) == (143, "[worker 0] waiting\n")


def test_the_script_ends_nodes_that_go_on_after_the_chief_was_stopped(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    node, sleep = tmp_path / "python", tmp_path / "bin/sleep"
    node.write_text(
        """#!/bin/sh
        case "$*" in *"worker --task_index 0"*) exit 143 ;; *) exec tail -f /dev/null ;; esac
        """
    )
    sleep.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/slept\n')  # in no time, as the script waits for 20 seconds
    for path in (node, sleep):
        path.chmod(0o755)
    environment = {**os.environ, "PYTHON": str(node), "PATH": f"{sleep.parent}:{os.environ['PATH']}"}
    command = [str(ROOT / "bin/run-cluster.sh"), "1:2", "--"]
    assert subprocess.run(command, env=environment, timeout=300, check=False).returncode == 143
    assert 19 < sum(map(float, (tmp_path / "slept").read_text().split())) < 40
