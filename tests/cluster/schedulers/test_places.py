"""The node that a process is by its scheduler's variables, and the errors for missing or wrong variables."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from deepspeech.cli import flags
from deepspeech.cli.combinations.places import placed
from deepspeech.cluster.addresses.announcing import own_address, port_to_listen_on
from deepspeech.cluster.schedulers.registry import place_of
from deepspeech.errors import FlagError
from deepspeech.options import ClusterOptions, Options, with_values

NODES = {"chief": ["c:2222"], "worker": ["d:2222", "e:2223"], "ps": ["a:2222", "b:2222"]}
SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NODELIST": "gpu[08-10],big",
    "SLURM_NTASKS": "7",
    "SLURM_TASKS_PER_NODE": "2(x3),1",
}
JOB_SET = {"JOBSET_NAME": "speech", "PS_REPLICAS": "2", "WORKER_REPLICAS": "3"}
INDEXED_JOB = {"JOB_NAME": "speech", "SERVICE_NAME": "nodes", "PS_REPLICAS": "2", "WORKER_REPLICAS": "3"}


def tf_config(kind: str, index: int, cluster: Mapping[str, object] = NODES) -> dict[str, str]:
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})}


def cluster_of(scheduler: str, variables: Mapping[str, str], given: Mapping[str, str | int] = {}) -> ClusterOptions:
    options = with_values(Options(), {"cluster": scheduler, **given})
    return placed(options, ["cluster", *given], variables).cluster


@pytest.mark.parametrize(
    ("variables", "job", "task", "address"),
    [
        (tf_config("chief", 0), "worker", 0, "c:2222"),
        (tf_config("worker", 1), "worker", 2, "e:2223"),
        (tf_config("ps", 1), "ps", 1, ""),
        (tf_config("worker", 1, {"worker": ["c:1", "d:2"], "ps": ["a:2222", "b:2222"]}), "worker", 1, "d:2"),
        (tf_config("master", 0, {"master": ["c:1"], "ps": ["a:2222", "b:2222"]}), "worker", 0, "c:1"),
    ],
)
def test_tf_config_names_the_nodes(variables: dict[str, str], job: str, task: int, address: str) -> None:
    cluster = cluster_of("tf_config", variables)
    assert (cluster.job_name, cluster.task, cluster.worker_address) == (job, task, address)
    assert cluster.parameter_servers == ("a:2222", "b:2222")
    assert (cluster.coordinator_host, cluster.coordinator_port) == ("c", ClusterOptions.coordinator_port)
    assert cluster.announces
    assert cluster.places == sum(len(hosts) for kind, hosts in described(variables).items() if kind != "ps")
    assert cluster.least_workers == 0


def test_addresses_of_ipv6_are_in_brackets_only_before_a_port() -> None:
    nodes = {"worker": ["[::1]:4601", "[fd00::2]:4602"], "ps": ["[::1]:4603"]}
    for number in (0, 1):
        cluster = cluster_of("tf_config", tf_config("worker", number, nodes))
        assert cluster.coordinator_host == "::1"
        assert own_address(cluster, port_to_listen_on(cluster)) == nodes["worker"][number]
    for given, wanted in (("fd00::2", "[fd00::2]:9"), ("[fd00::2]", "[fd00::2]:9"), ("", "[::1]:9")):
        cluster = replace(cluster_of("tf_config", tf_config("worker", 0, nodes)), worker_address=given)
        assert port_to_listen_on(cluster) == 0
        assert own_address(cluster, 9) == wanted


def described(variables: dict[str, str]) -> dict[str, list[str]]:
    cluster: dict[str, list[str]] = json.loads(variables["TF_CONFIG"])["cluster"]
    return cluster


@pytest.mark.parametrize(("role", "index"), [("ps", 1), ("worker", 0), ("worker", 2)])
def test_a_pod_of_a_job_set_is_the_node_that_its_job_and_index_say(role: str, index: int) -> None:
    cluster = cluster_of("jobset", JOB_SET | {"REPLICATED_JOB_NAME": role, "JOB_COMPLETION_INDEX": str(index)})
    assert (cluster.job_name, cluster.task, cluster.places) == (role, index, 3)
    assert cluster.parameter_servers == ("speech-ps-0-0.speech:2222", "speech-ps-0-1.speech:2222")
    assert cluster.coordinator_host == "speech-worker-0-0.speech"
    assert cluster.worker_address == (f"speech-worker-0-{index}.speech:2222" if role == "worker" else "")


@pytest.mark.parametrize(("index", "job", "task"), [(1, "ps", 1), (2, "worker", 0), (4, "worker", 2)])
def test_the_first_pods_of_an_indexed_job_are_the_parameter_servers(index: int, job: str, task: int) -> None:
    cluster = cluster_of("indexed_job", INDEXED_JOB | {"JOB_COMPLETION_INDEX": str(index)})
    assert (cluster.job_name, cluster.task, cluster.places) == (job, task, 3)
    assert cluster.parameter_servers == ("speech-0.nodes:2222", "speech-1.nodes:2222")
    assert cluster.coordinator_host == "speech-2.nodes"
    assert cluster.worker_address == (f"speech-{index}.nodes:2222" if job == "worker" else "")


@pytest.mark.parametrize(
    ("number", "more", "job", "task", "servers", "address"),
    [
        (0, {}, "worker", 0, ["gpu08"], "gpu08"),
        (1, {}, "ps", 0, ["gpu08"], ""),
        (2, {}, "worker", 1, ["gpu08"], "gpu09"),
        (6, {}, "worker", 5, ["gpu08"], "big"),
        (2, {"PS_REPLICAS": ""}, "worker", 1, ["gpu08"], "gpu09"),
        (2, {"PS_REPLICAS": "2"}, "ps", 1, ["gpu08", "gpu09"], ""),
        (3, {"PS_REPLICAS": "2"}, "worker", 1, ["gpu08", "gpu09"], "gpu09"),
        (4, {"SLURM_DISTRIBUTION": "cyclic"}, "worker", 3, ["gpu09"], "gpu08"),
        (6, {"SLURM_DISTRIBUTION": "cyclic:block"}, "worker", 5, ["gpu09"], "gpu10"),
        (
            1,
            {"SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "x,y", "SLURM_STEP_TASKS_PER_NODE": "1(x2)"},
            "ps",
            0,
            ["y"],
            "",
        ),
    ],
)
def test_tasks_of_slurm_are_the_chief_parameter_servers_and_workers(
    number: int, more: dict[str, str], job: str, task: int, servers: list[str], address: str
) -> None:
    cluster = cluster_of("slurm", SLURM | {"SLURM_PROCID": str(number)} | more)
    assert (cluster.job_name, cluster.task, cluster.worker_address) == (job, task, address)
    assert [each.partition(":")[0] for each in cluster.parameter_servers] == servers
    assert cluster.places + len(servers) == int(more.get("SLURM_STEP_NUM_TASKS", "7"))
    assert cluster.coordinator_host == ("x" if "SLURM_STEP_NODELIST" in more else "gpu08")


@pytest.mark.parametrize(
    ("scheduler", "variables", "task", "places"),
    [
        ("tf_config", tf_config("worker", 1, {"worker": ["a:1", "b:1"]}), 1, 2),
        ("slurm", SLURM | {"SLURM_PROCID": "1"}, 1, 7),
        ("indexed_job", INDEXED_JOB | {"PS_REPLICAS": "0", "JOB_COMPLETION_INDEX": "1"}, 1, 3),
        ("indexed_job", INDEXED_JOB | {"PS_REPLICAS": "", "JOB_COMPLETION_INDEX": "1"}, 1, 3),
        ("jobset", JOB_SET | {"PS_REPLICAS": "0", "REPLICATED_JOB_NAME": "worker", "JOB_COMPLETION_INDEX": "2"}, 2, 3),
    ],
)
def test_workers_that_hold_the_weights_need_no_parameter_servers_of_a_scheduler(
    scheduler: str, variables: dict[str, str], task: int, places: int
) -> None:
    cluster = cluster_of(scheduler, variables, {"sync": "allreduce"})
    assert (cluster.job_name, cluster.task, cluster.places, cluster.parameter_servers) == ("worker", task, places, ())


def test_jobs_of_slurm_beside_each_other_have_ports_of_their_own() -> None:
    places = [place_of("slurm", SLURM | {"SLURM_PROCID": "0", "SLURM_JOB_ID": str(job)}) for job in range(500, 900)]
    ports = [place.coordinator_port or 0 for place in places]
    ports += [int(place.parameter_servers[0].rpartition(":")[2]) for place in places]
    assert len(set(ports)) == 2 * len(places)
    assert min(ports) >= 12_000
    assert max(ports) < 32_000


@pytest.mark.parametrize("given", ["b", "b:2222", "10.0.0.7:1", "fe80::1", "[fe80::1]", "[fe80::1]:2222"])
def test_a_workers_address_may_have_a_port_or_be_of_ipv6(given: str) -> None:
    arguments = ["--ps_hosts=s:1", "--worker_hosts=auto", "--workers=2", "--job_name=worker", "--train_files=t.csv"]
    options = flags.parse([*arguments, f"--worker_address={given}"])
    assert options is not None
    assert options.cluster.worker_address == given


def test_what_the_command_line_says_besides_the_place_stays() -> None:
    cluster = cluster_of("slurm", SLURM | {"SLURM_PROCID": "0"}, {"coord_port": 2600, "worker_address": "10.0.0.7"})
    assert (cluster.coordinator_port, cluster.worker_address) == (2600, "10.0.0.7")
    with pytest.raises(FlagError, match=r"--cluster=slurm: cannot be combined with --task_index, which the"):
        cluster_of("slurm", SLURM | {"SLURM_PROCID": "0"}, {"task_index": 1})


@pytest.mark.parametrize(
    ("scheduler", "variables", "reason"),
    [
        ("tf_config", {}, "TF_CONFIG is not in the environment; the scheduler sets it, such as Kubeflow's TFJob"),
        ("tf_config", {"TF_CONFIG": "{"}, "TF_CONFIG: is not JSON"),
        ("tf_config", {"TF_CONFIG": "[" * 100_000}, "TF_CONFIG: is not JSON"),
        ("tf_config", {"TF_CONFIG": "[]"}, 'TF_CONFIG: has no "cluster", which names the nodes'),
        ("tf_config", {"TF_CONFIG": json.dumps({"cluster": NODES})}, 'TF_CONFIG: has no "task"'),
        ("tf_config", tf_config("worker", 2), "TF_CONFIG: its task, worker 2, is not in its cluster"),
        ("tf_config", tf_config("evaluator", 0), "TF_CONFIG: its task, evaluator 0, is not in its cluster"),
        (
            "tf_config",
            tf_config("worker", 0, {"worker": ["a:1"]}),
            'no "ps"; name one or more there, or give --sync=allreduce',
        ),
        ("tf_config", tf_config("ps", 0, {"ps": ["a:1"]}), 'TF_CONFIG: its cluster needs one "chief", or a "worker"'),
        ("tf_config", tf_config("ps", 0, {"chief": ["a:1"], "master": ["b:1"], "ps": ["c:1"]}), 'needs one "chief"'),
        ("tf_config", tf_config("ps", 0, {"worker": ["a:1", "a:1"], "ps": ["c:1"]}), "TF_CONFIG: a:1 is given twice"),
        (
            "tf_config",
            tf_config("ps", 0, {"worker": ["a:1"], "ps": ["a:1"]}),
            "TF_CONFIG: a:1 is given twice; each node",
        ),
        ("tf_config", tf_config("ps", 0, {"worker": ["a:1"], "ps": ["a"]}), "TF_CONFIG: 'a' is not a host and port"),
        ("tf_config", tf_config("ps", 0, {"worker": ["a:1"], "ps": ["::1:2"]}), "without brackets; write [::1]:2"),
        ("tf_config", tf_config("ps", 0, {"ps": "a:1"}), 'TF_CONFIG: "ps" in its cluster is not a list of hosts'),
        ("jobset", {}, "JOBSET_NAME is not in the environment; deploy/training/jobset.yaml"),
        (
            "jobset",
            JOB_SET | {"REPLICATED_JOB_NAME": "driver"},
            "REPLICATED_JOB_NAME=driver: the JobSet's jobs must be",
        ),
        ("jobset", JOB_SET | {"REPLICATED_JOB_NAME": "ps"}, "JOB_COMPLETION_INDEX is not in the environment"),
        (
            "jobset",
            JOB_SET | {"REPLICATED_JOB_NAME": "ps", "JOB_COMPLETION_INDEX": "2"},
            "JOB_COMPLETION_INDEX=2: is one too many for ps 2 and worker 3, as PS_REPLICAS and WORKER_REPLICAS say",
        ),
        ("indexed_job", INDEXED_JOB | {"JOB_COMPLETION_INDEX": "x"}, "JOB_COMPLETION_INDEX=x: must be a number from 0"),
        ("indexed_job", INDEXED_JOB | {"JOB_COMPLETION_INDEX": "5"}, "JOB_COMPLETION_INDEX=5: is one too many"),
        (
            "indexed_job",
            INDEXED_JOB | {"PS_REPLICAS": "0", "JOB_COMPLETION_INDEX": "0"},
            "PS_REPLICAS names no parameter server; set it to 1 or more, or give --sync=allreduce",
        ),
        (
            "jobset",
            JOB_SET | {"PS_REPLICAS": "", "REPLICATED_JOB_NAME": "worker", "JOB_COMPLETION_INDEX": "0"},
            "PS_REPLICAS names no parameter server; set it to 1 or more, or give --sync=allreduce",
        ),
        ("slurm", SLURM | {"SLURM_PROCID": "0", "PS_REPLICAS": "0"}, "or give --sync=allreduce"),
        ("slurm", {}, "SLURM_PROCID is not in the environment; start the program with srun, in a job of two tasks"),
        ("slurm", SLURM | {"SLURM_PROCID": "7"}, "SLURM_PROCID=7: is not one of the step's 7 tasks"),
        ("slurm", SLURM | {"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, "the step needs 2 tasks or more, but has 1"),
        (
            "slurm",
            SLURM | {"SLURM_PROCID": "0", "PS_REPLICAS": "9"},
            "10 tasks or more, but has 7; start the program with srun, in a job of so many",
        ),
        ("slurm", SLURM | {"SLURM_PROCID": "0", "SLURM_JOB_NODELIST": "n[1-"}, "is not a list of hosts, such as node"),
        ("slurm", SLURM | {"SLURM_PROCID": "0", "SLURM_JOB_NODELIST": "a,b"}, "7 tasks, 2 nodes and tasks on 4"),
        ("slurm", SLURM | {"SLURM_PROCID": "0", "SLURM_TASKS_PER_NODE": "2x3"}, "is not a list of numbers, such as 2"),
        ("slurm", SLURM | {"SLURM_PROCID": "0", "SLURM_DISTRIBUTION": "plane"}, "SLURM_DISTRIBUTION=plane: use"),
    ],
)
def test_variables_that_say_too_little_are_refused_in_one_line(
    scheduler: str, variables: dict[str, str], reason: str
) -> None:
    with pytest.raises(FlagError) as raised:
        place_of(scheduler, variables)
    assert str(raised.value).startswith(f"--cluster={scheduler}: ")
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--worker_hosts=auto"], "--worker_hosts=auto: needs --workers"),
        (["--worker_hosts=a:1", "--workers=2"], "--workers: needs --worker_hosts=auto"),
        (["--worker_hosts=a:1", "--worker_address=b"], "--worker_address: needs --worker_hosts=auto"),
        (
            ["--worker_hosts=auto", "--workers=2", "--worker_address=b:99999"],
            "--worker_address: 'b:99999' is not a host",
        ),
        (["--worker_hosts=auto", "--workers=2", "--worker_address=b:c"], "--worker_address: 'b:c' is not a host, or a"),
        (["--worker_hosts=auto", "--workers=2", "--worker_address=.b"], "--worker_address: '.b' is not a host, or a"),
        (["--worker_hosts=a:1,.b:1"], "--worker_hosts: '.b:1' is not a host and port"),
        (["--worker_hosts=[::1]:1,::1:2"], "--worker_hosts: '::1:2' has an IPv6 address without brackets"),
        (["--worker_hosts=[::1:2"], "--worker_hosts: '[::1:2' is not a host and port"),
        (["--worker_hosts=[a]:2"], "--worker_hosts: '[a]:2' is not a host and port"),
        (["--worker_hosts=a:b:2"], "--worker_hosts: 'a:b:2' is not a host and port"),
        ([f"--worker_hosts=a:{'1' * 5000}"], "is not a host and port"),
        (["--worker_hosts=auto", "--workers=2", "--worker_address=::1]:2"], "--worker_address: '::1]:2' is not a host"),
        (["--worker_hosts=a:1,s:1"], "--ps_hosts and --worker_hosts: s:1 is in both"),
        (["--worker_hosts=auto", "--workers=4:2"], "--workers=4:2: must be a number of workers, or the least and the"),
        (["--worker_hosts=auto", "--workers=2:4", "--replicas_to_agg=2"], "uses the gradients of all workers"),
        (["--worker_hosts=auto", "--workers=2", "--task_index=2"], "--task_index=2: must be 0 to 1"),
        (["--worker_hosts=a:1", "--task_index=-1"], "--task_index=-1: must be 0 to 0"),
        (["--cluster=yarn"], "--cluster=yarn: must be one of tf_config, jobset"),
    ],
)
def test_flags_of_workers_that_tell_their_addresses_must_go_together(arguments: list[str], reason: str) -> None:
    with pytest.raises(FlagError) as raised:
        flags.parse(["--train_files=train.csv", "--ps_hosts=s:1", "--job_name=worker", *arguments])
    assert reason in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["--worker_hosts=a:1", "--ps_hosts=s:1"],
            "--sync=allreduce: needs no parameter servers; leave out --ps_hosts",
        ),
        (["--worker_hosts=a:1", "--job_name=ps"], "--sync=allreduce: needs no parameter servers; leave out --ps_hosts"),
        (["--job_name=worker"], "--sync=allreduce: needs --worker_hosts and --job_name=worker"),
        (["--worker_hosts=a:1,b:1", "--job_name=worker", "--replicas_to_agg=1"], "uses the gradients of all workers"),
        (["--worker_hosts=a:1,b:1", "--job_name=worker", "--replicas=-2"], "uses the gradients of all workers"),
        (["--worker_hosts=a:1", "--sync=ring"], "--sync=ring: must be one of"),
    ],
)
def test_workers_that_hold_the_weights_allow_neither_parameter_servers_nor_spare_gradients(
    arguments: list[str], reason: str
) -> None:
    with pytest.raises(FlagError) as raised:
        flags.parse(["--train_files=train.csv", "--sync=allreduce", *arguments])
    assert reason in str(raised.value)


def test_a_scheduler_that_names_parameter_servers_does_not_go_with_workers_that_hold_the_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TF_CONFIG", tf_config("worker", 0)["TF_CONFIG"])
    with pytest.raises(FlagError, match="needs no parameter servers, but --cluster=tf_config names some"):
        flags.parse(["--train_files=train.csv", "--sync=allreduce", "--cluster=tf_config"])
