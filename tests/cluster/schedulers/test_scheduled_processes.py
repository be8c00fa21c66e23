"""Processes that have only a scheduler's variables train to the end, even if any of them is replaced."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from nodes import Cluster, batches_counted, need_network_namespaces, utterances_applied
from program import Program

from benchmarks.processes.ports import free_ports

STOPPED = 128 + signal.SIGTERM
TOKEN = "a secret of enough characters"


@dataclass
class Scheduled(Cluster):
    """A cluster whose nodes get their places from a scheduler's variables."""

    scheduler: str = ""
    variables: Callable[[str], dict[str, str]] = lambda _: {}

    def place_of(self, _name: str) -> list[str]:
        return [
            f"--cluster={self.scheduler}",
            *([f"--coord_port={self.port}"] if self.scheduler == "tf_config" else []),
        ]

    def environment_of(self, name: str) -> dict[str, str]:
        return self.variables(name)


def flags(program: Program, **changes: object) -> list[str]:
    given = {"train_batch_size": 2, "dropout_rate": 0, "validation_step": 0, **changes}
    return [*program.training(**given), "--noearly_stop", "--log_traffic"]


def every_batch_was_counted_once(log: str) -> bool:
    counted = {key: count for key, count in batches_counted(log).items() if key[0] == "train"}
    return set(counted.values()) == {1} and utterances_applied(log) == 2 * len(counted)


def test_tf_config_trains_to_the_end_with_a_worker_that_comes_back_at_another_port(program: Program) -> None:
    ports = dict(zip(("ps 0", "worker 0", "worker 1"), free_ports(3), strict=True))

    def tf_config(name: str) -> dict[str, str]:
        hosts = {node: [f"localhost:{port}"] for node, port in ports.items()}
        nodes = {"ps": hosts["ps 0"], "chief": hosts["worker 0"], "worker": hosts["worker 1"]}
        kind = {"ps 0": "ps", "worker 0": "chief", "worker 1": "worker"}[name]
        return {"TF_CONFIG": json.dumps({"cluster": nodes, "task": {"type": kind, "index": 0}})}

    with Scheduled(program, flags(program, epoch=5000), scheduler="tf_config", variables=tf_config) as cluster:
        cluster.start()
        cluster.wait_for(lambda status: len(status["members"]) == 3 and status["counts"]["steps"] > 5)
        cluster.kill("worker 1")
        (ports["worker 1"],) = free_ports(1)
        cluster.start("worker 1")
        cluster.wait_for(lambda _: results_since_joining(cluster, ports["worker 1"]) > 3)
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        assert cluster.wait() == [STOPPED] * 3, cluster.logs()
        assert every_batch_was_counted_once(cluster.log("worker 0"))
        cluster.flags = flags(program, epoch=-1)
        cluster.start()
        assert cluster.wait() == [0] * 3, cluster.logs()
        assert "Resuming from checkpoint" in cluster.log("worker 0")


def results_since_joining(cluster: Cluster, port: int) -> int:
    """Return how many results of worker 1 were accepted since it joined at a port."""
    _, _, since = cluster.log("worker 1").partition(f'"address": "localhost:{port}"')
    return len(re.findall(r"/v1/results .* -> 200", since))


def test_tasks_of_srun_on_one_machine_train_to_the_end(program: Program) -> None:
    tasks = ["worker 0", "ps 0", "worker 1"]

    def slurm(name: str) -> dict[str, str]:
        return {
            **{"SLURM_JOB_ID": str(os.getpid()), "SLURM_PROCID": str(tasks.index(name)), "SLURM_NTASKS": "3"},
            **{"SLURM_JOB_NODELIST": "localhost", "SLURM_TASKS_PER_NODE": "3", "DEEPSPEECH_COORD_TOKEN": TOKEN},
        }

    with Scheduled(program, flags(program, epoch=3), scheduler="slurm", variables=slurm) as cluster:
        cluster.start()
        assert cluster.wait() == [0] * 3, cluster.logs()
        assert every_batch_was_counted_once(cluster.log("worker 0"))


@pytest.fixture
def pods() -> Iterator[list[str]]:
    """Yield the names of three network namespaces with the same free ports, at the addresses from 10.0.0.1 on."""
    need_network_namespaces()
    names = [f"pod{number}x{os.getpid()}" for number in (1, 2, 3)]
    first = names[0]
    commands = [f"ip netns add {name}" for name in names]
    commands += [f"ip -n {first} link add pods type bridge", f"ip -n {first} addr add 10.0.0.1/24 dev pods"]
    for number, name in enumerate(names[1:], 2):
        commands += [
            f"ip -n {name} link add inside type veth peer name to{number} netns {first}",
            f"ip -n {name} addr add 10.0.0.{number}/24 dev inside",
            f"ip -n {name} link set inside up",
            f"ip -n {first} link set to{number} master pods up",
        ]
    commands += [f"ip -n {first} link set pods up", *(f"ip -n {name} link set lo up" for name in names)]
    try:
        for command in commands:
            subprocess.run(command.split(), check=True, capture_output=True)
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def test_pods_of_a_job_set_train_to_the_end(program: Program, pods: list[str]) -> None:
    names = ["speech-ps-0-0.speech", "speech-worker-0-0.speech", "speech-worker-0-1.speech"]
    hosts = program.folder / "hosts"
    hosts.write_text("".join(f"10.0.0.{number} {name}\n" for number, name in enumerate(names, 1)))

    def job_set(name: str) -> dict[str, str]:
        role, index = name.split()
        return {
            **{"JOBSET_NAME": "speech", "REPLICATED_JOB_NAME": role, "JOB_COMPLETION_INDEX": index},
            **{"PS_REPLICAS": "1", "WORKER_REPLICAS": "2", "DEEPSPEECH_COORD_TOKEN": TOKEN},
        }

    cluster = Scheduled(program, flags(program, epoch=3), scheduler="jobset", variables=job_set)
    cluster.namespaces = dict(zip(("ps 0", "worker 0", "worker 1"), pods, strict=True))
    cluster.names_of_hosts = str(hosts)
    with cluster:
        cluster.start()
        assert cluster.wait() == [0] * 3, cluster.logs()
        assert every_batch_was_counted_once(cluster.log("worker 0"))


def test_without_the_schedulers_variables_the_command_ends_with_one_line(program: Program) -> None:
    finished = program.run(*program.training(), "--cluster=slurm")
    assert finished.code == 1
    assert "--cluster=slurm: SLURM_PROCID is not in the environment; start the program with srun" in finished.error
