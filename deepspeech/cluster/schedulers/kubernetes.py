"""Kubernetes: pods of a JobSet with the jobs `ps` and `worker`, or of one indexed Job.

A pod's number is in JOB_COMPLETION_INDEX, which Kubernetes sets. The manifest sets what Kubernetes does not: the number
of pods and their names. See deploy/training/jobset.yaml and deploy/training/indexed-job.yaml.
"""

from .environment import Environment
from .place import PARAMETER_SERVER, WORKER, Place

ADVICE = "deploy/training/jobset.yaml and deploy/training/indexed-job.yaml show a pod that has it"

PORT = 2222
"""TensorFlow's port in each pod."""


def place_in_job_set(environment: Environment) -> Place:
    """Return the place of a pod of a JobSet; raise FlagError, in one line, if variables are missing or wrong."""
    name, role = environment.text("JOBSET_NAME"), environment.text("REPLICATED_JOB_NAME")
    counts = _counts(environment)
    if role not in counts:
        raise environment.error(f"REPLICATED_JOB_NAME={role}: the JobSet's jobs must be called ps and worker")
    hosts = {job: [f"{name}-{job}-0-{index}.{name}" for index in range(count)] for job, count in counts.items()}
    return _place(environment, role, environment.number("JOB_COMPLETION_INDEX"), hosts)


def place_in_indexed_job(environment: Environment) -> Place:
    """Return the place of a pod of an indexed Job, whose first pods are the parameter servers; may raise FlagError."""
    name, service = environment.text("JOB_NAME"), environment.text("SERVICE_NAME")
    index, counts = environment.number("JOB_COMPLETION_INDEX"), _counts(environment)
    servers = counts[PARAMETER_SERVER]
    pods = [f"{name}-{number}.{service}" for number in range(sum(counts.values()))]
    role, task = (PARAMETER_SERVER, index) if index < servers else (WORKER, index - servers)
    return _place(environment, role, task, {PARAMETER_SERVER: pods[:servers], WORKER: pods[servers:]})


def _counts(environment: Environment) -> dict[str, int]:
    return {
        PARAMETER_SERVER: environment.server_count(default=0),
        WORKER: environment.number("WORKER_REPLICAS", 1),
    }


def _place(environment: Environment, role: str, task: int, hosts: dict[str, list[str]]) -> Place:
    if task >= len(hosts[role]):
        index = environment.text("JOB_COMPLETION_INDEX")
        counts = " and ".join(f"{name} {len(each)}" for name, each in hosts.items())
        raise environment.error(
            f"JOB_COMPLETION_INDEX={index}: is one too many for {counts}, as PS_REPLICAS and WORKER_REPLICAS say"
        )
    servers = [f"{host}:{PORT}" for host in hosts[PARAMETER_SERVER]]
    address = f"{hosts[WORKER][task]}:{PORT}" if role == WORKER else ""
    return Place(role, task, servers, len(hosts[WORKER]), hosts[WORKER][0], address=address)
