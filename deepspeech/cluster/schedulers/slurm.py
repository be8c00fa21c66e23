"""Slurm: the tasks of a step that srun starts.

Task 0 is the chief. The next tasks are the parameter servers (one, or the number in PS_REPLICAS), and the others are
workers. Each port is derived from the job's number, so that jobs that share a machine do not take each other's.
"""

from collections.abc import Iterator
from itertools import chain, cycle, repeat

from .environment import Environment
from .host_list import hosts_of, numbers_of
from .place import PARAMETER_SERVER, WORKER, Place

ADVICE = "start the program with srun, in a job of two tasks or more"

COORDINATOR_PORTS, SERVER_PORTS = range(12_000, 22_000), range(22_000, 32_000)
"""Below the ports that operating systems assign to outgoing connections."""


def place(environment: Environment) -> Place:
    """Return this task's place; raise FlagError, in one line, if variables are missing or wrong."""
    number, job = environment.number("SLURM_PROCID"), environment.number("SLURM_JOB_ID")
    tasks = _first_number(environment, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
    servers = environment.server_count(default=environment.least_servers)
    if tasks < servers + 1:
        advice = "start the program with srun, in a job of so many"
        raise environment.error(f"the step needs {servers + 1} tasks or more, but has {tasks}; {advice}")
    if number >= tasks:
        raise environment.error(f"SLURM_PROCID={number}: is not one of the step's {tasks} tasks")
    hosts = list(_hosts_of_tasks(environment, tasks))
    first = job * 16
    places = [f"{hosts[1 + each]}:{SERVER_PORTS[(first + each) % len(SERVER_PORTS)]}" for each in range(servers)]
    is_server = 1 <= number <= servers
    task = number - 1 if is_server else max(number - servers, 0)
    return Place(
        PARAMETER_SERVER if is_server else WORKER,
        task,
        places,
        tasks - servers,
        hosts[0],
        COORDINATOR_PORTS[job % len(COORDINATOR_PORTS)],
        address="" if is_server else hosts[number],
    )


def _hosts_of_tasks(environment: Environment, tasks: int) -> Iterator[str]:
    """Yield the host of each task, in order."""
    name = "SLURM_STEP_NODELIST" if "SLURM_STEP_NODELIST" in environment.variables else "SLURM_JOB_NODELIST"
    hosts = hosts_of(environment, name)
    counted = "SLURM_STEP_TASKS_PER_NODE"
    counts = numbers_of(environment, counted if counted in environment.variables else "SLURM_TASKS_PER_NODE")
    if len(counts) != len(hosts) or sum(counts) != tasks:
        raise environment.error(f"{tasks} tasks, {len(hosts)} nodes and tasks on {len(counts)} of them do not agree")
    distribution = environment.variables.get("SLURM_DISTRIBUTION", "block").partition(":")[0].partition(",")[0]
    if distribution == "block" or max(counts) == 1:
        return chain.from_iterable(repeat(host, count) for host, count in zip(hosts, counts, strict=True))
    if distribution == "cyclic":
        return _in_turn(hosts, counts)
    raise environment.error(f"SLURM_DISTRIBUTION={distribution}: use --distribution=block or cyclic of srun")


def _in_turn(hosts: list[str], counts: list[int]) -> Iterator[str]:
    left = dict(enumerate(counts))
    for node in cycle(range(len(hosts))):
        if not any(left.values()):
            return
        if left[node]:
            left[node] -= 1
            yield hosts[node]


def _first_number(environment: Environment, *names: str) -> int:
    present = [name for name in names if name in environment.variables]
    return environment.number(present[0] if present else names[-1], 1)
