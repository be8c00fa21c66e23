"""The network is cut between one node and the others, and healed or not: in network namespaces."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from nodes import Cluster, need_network_namespaces, side_by_side, steps_counted
from program import Program

from benchmarks.processes.ports import free_ports

BLOCK = os.getpid() % (1 << 12)  # each test run on a machine has sixteen addresses of its own
NODES = ("ps 0", "worker 0", "worker 1")
TOKEN = "a secret of enough characters"
LEASE = 2
PATIENT_RETRIES = 20  # 10 seconds
CUT_REASONS = (
    r"parameter server 0 \(.*\) did not come, or come back, for 10 s"
    r"|could not be reached for 10 s"
    r"|the parameter servers have not answered for 10 s"
)
"""What a node may say of a permanent cut. The last, when a worker's own lease ran out, too, as on a busy machine."""
STOPPED = 128 + signal.SIGTERM
LONGEST_END = 60.0
"""Seconds from a permanent cut to the end of every node that cannot continue without the disconnected one."""


@dataclass(frozen=True)
class Network:
    """A network namespace whose only link, to this one, has the same name, and the addresses at its ends."""

    name: str
    outside: str
    inside: str

    def cut(self) -> None:
        subprocess.run(["ip", "link", "set", self.name, "down"], check=True)

    def heal(self) -> None:
        subprocess.run(["ip", "link", "set", self.name, "up"], check=True)


@contextmanager
def made_network(number: int) -> Iterator[Network]:
    name = f"ds{os.getpid() % 100000}-{number}"
    addresses, outside, inside = (f"10.213.{BLOCK // 16}.{BLOCK % 16 * 16 + number * 4 + host}" for host in (0, 1, 2))
    # While the link is down, packets to the namespace would go to the default gateway, and some gateways answer.
    instead = f"unreachable {addresses}/30 metric 1000"
    commands = [
        f"ip route add {instead}",
        f"ip netns add {name}",
        f"ip link add {name} type veth peer name inside netns {name}",
        f"ip addr add {outside}/30 dev {name}",
        f"ip link set {name} up",
        f"ip -n {name} addr add {inside}/30 dev inside",
        f"ip -n {name} link set inside up",
        f"ip -n {name} link set lo up",
    ]
    try:
        for command in commands:
            subprocess.run(command.split(), check=True, capture_output=True)
        yield Network(name, outside, inside)
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", name], check=False, capture_output=True)
        subprocess.run(f"ip route del {instead}".split(), check=False, capture_output=True)


@pytest.fixture
def networks() -> Iterator[dict[str, Network]]:
    """Return a network for each node that may be alone behind it."""
    need_network_namespaces()
    with ExitStack() as made:
        yield {node: made.enter_context(made_network(number)) for number, node in enumerate(NODES)}


@contextmanager
def cluster_across(network: Network, program: Program, inside: str, **flags: object) -> Iterator[Cluster]:
    """Yield a cluster in the middle of training, one of whose nodes is alone behind the network."""
    ports = dict(zip(NODES, free_ports(3), strict=True))
    hosts = {name: f"{network.inside if name == inside else network.outside}:{port}" for name, port in ports.items()}
    chief = hosts["worker 0"].partition(":")[0]
    given = {"epoch": 5000, "train_batch_size": 2, "checkpoint_secs": 2, "coord_host": chief, "coord_lease_secs": LEASE}
    cluster = Cluster(
        program,
        program.training(**{**given, **flags}),
        hosts=([hosts["ps 0"]], [hosts["worker 0"], hosts["worker 1"]]),
        environment={"DEEPSPEECH_COORD_TOKEN": TOKEN},
        namespaces={inside: network.name},
        address=chief,
        token=TOKEN,
    )
    with cluster:
        cluster.start("worker 0")
        cluster.wait_for(bool)  # its start may take longer than the other nodes wait
        cluster.start("ps 0", "worker 1")
        cluster.wait_for(lambda status: len(status["members"]) == 3 and status["counts"]["steps"] > 5)
        yield cluster


def test_training_goes_on_when_the_network_heals_after_more_than_a_lease(
    program: Program, networks: dict[str, Network]
) -> None:
    def check(program: Program, inside: str) -> None:
        network = networks[inside]
        with cluster_across(network, program, inside) as cluster:
            before = cluster.status()["counts"]["steps"]
            network.cut()
            if inside == "worker 1":
                lost = cluster.wait_for(lambda status: len(status["members"]) == 2)
                cluster.wait_for(steps_counted(lost["counts"]["steps"] + 5))
            else:
                time.sleep(2 * LEASE)
            network.heal()
            cluster.wait_for(lambda status: len(status["members"]) == 3)
            healed = cluster.status()["counts"]["steps"]
            cluster.wait_for(steps_counted(max(healed, before) + 5))
            cluster.processes["worker 0"].send_signal(signal.SIGTERM)
            assert cluster.wait(*NODES) == [STOPPED] * 3, cluster.logs()
            assert not any(TOKEN in cluster.log(name) for name in NODES)

    side_by_side(program, NODES, check)


def test_all_nodes_end_with_a_reason_when_the_network_does_not_heal(
    program: Program, networks: dict[str, Network]
) -> None:
    def check(program: Program, inside: str) -> None:
        with cluster_across(networks[inside], program, inside, coord_retries=PATIENT_RETRIES) as cluster:
            networks[inside].cut()
            assert cluster.wait(*NODES, seconds=LONGEST_END) == [1, 1, 1], cluster.logs()
            for name in cluster.names:
                assert re.search(CUT_REASONS, cluster.errors(name)[-1]), cluster.logs()

    side_by_side(program, ["ps 0", "worker 0"], check)
