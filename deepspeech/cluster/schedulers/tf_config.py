"""TF_CONFIG: JSON that names all nodes and this one; Kubeflow's TFJob and other TensorFlow schedulers set it.

    {"cluster": {"chief": ["a:2222"], "worker": ["b:2222"], "ps": ["c:2222"]}, "task": {"type": "worker", "index": 0}}

The chief is worker 0 and the others follow; without a chief, the first worker is the chief. A chief may also be called
master.
"""

import json
from typing import Any

from ...options.cluster import wrong_host
from .environment import Environment
from .place import PARAMETER_SERVER, WORKER, Place

ADVICE = "the scheduler sets it, such as Kubeflow's TFJob"

CHIEFS = ("chief", "master")


def place(environment: Environment) -> Place:
    """Return this node's place; raise FlagError, in one line, if TF_CONFIG is missing or wrong."""
    described = _described(environment)
    nodes = {kind: _hosts(environment, described, kind) for kind in (*CHIEFS, WORKER, PARAMETER_SERVER)}
    chiefs = [*nodes["chief"], *nodes["master"]]
    if len(nodes[PARAMETER_SERVER]) < environment.least_servers:
        raise environment.error('TF_CONFIG: its cluster has no "ps"; name one or more there, or give --sync=allreduce')
    workers = [*chiefs, *nodes[WORKER]]
    if not workers or len(chiefs) > 1:
        raise environment.error('TF_CONFIG: its cluster needs one "chief", or a "worker"')
    if wrong := wrong_host([*workers, *nodes[PARAMETER_SERVER]]):
        raise environment.error(f"TF_CONFIG: {wrong}")
    kind, index = _task(environment, described)
    if kind not in nodes or index >= len(nodes[kind]):
        raise environment.error(f"TF_CONFIG: its task, {kind} {index}, is not in its cluster")
    task = index + len(chiefs) if kind == WORKER else index
    job_name = PARAMETER_SERVER if kind == PARAMETER_SERVER else WORKER
    address = workers[task] if job_name == WORKER else ""
    host = workers[0].rpartition(":")[0].strip("[]")
    return Place(job_name, task, nodes[PARAMETER_SERVER], len(workers), host, address=address)


def _described(environment: Environment) -> dict[str, Any]:
    text = environment.text("TF_CONFIG")
    try:
        described = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise environment.error(f"TF_CONFIG: is not JSON ({error})") from None
    if not (isinstance(described, dict) and isinstance(described.get("cluster"), dict)):
        raise environment.error('TF_CONFIG: has no "cluster", which names the nodes')
    return described


def _hosts(environment: Environment, described: dict[str, Any], kind: str) -> list[str]:
    hosts = described["cluster"].get(kind, [])
    if not (isinstance(hosts, list) and all(isinstance(host, str) for host in hosts)):
        raise environment.error(
            f'TF_CONFIG: "{kind}" in its cluster is not a list of hosts with ports, such as "a:2222"'
        )
    return hosts


def _task(environment: Environment, described: dict[str, Any]) -> tuple[str, int]:
    task = described.get("task")
    kind, index = (task.get("type"), task.get("index")) if isinstance(task, dict) else (None, None)
    index = int(index) if isinstance(index, str) and index.isdecimal() else index
    if not (isinstance(kind, str) and isinstance(index, int) and index >= 0):
        raise environment.error('TF_CONFIG: has no "task" with "type" and "index", which say which node this is')
    return kind, index
