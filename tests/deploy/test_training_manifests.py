"""The files of deploy/training/ start nodes that fit together: their places, numbers, ports and flags."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from deepspeech.cluster.node import STOPPING_SECONDS
from deepspeech.cluster.schedulers.kubernetes import PORT
from deepspeech.cluster.schedulers.registry import PLACES, place_of
from deepspeech.options import ClusterOptions, Options, flags_of

TRAINING = Path(__file__).parents[2] / "deploy/training"


def objects(file: str) -> dict[str, Any]:
    return {each["kind"]: each for each in yaml.safe_load_all((TRAINING / file).read_text())}


def pods() -> dict[str, tuple[int, Any]]:
    """Return the number and the specification of the pods of each kind, by the scheduler's name and theirs."""
    jobs = objects("jobset.yaml")["JobSet"]["spec"]["replicatedJobs"]
    found = {f"jobset {job['name']}": job["template"]["spec"] for job in jobs}
    found["indexed_job"] = objects("indexed-job.yaml")["Job"]["spec"]
    described = {name: (spec["completions"], spec["template"]["spec"]) for name, spec in found.items()}
    replicas = objects("tfjob.yaml")["TFJob"]["spec"]["tfReplicaSpecs"]
    return described | {f"tf_config {n}": (each["replicas"], each["template"]["spec"]) for n, each in replicas.items()}


def variables(pod: Any) -> dict[str, str]:
    """Return the pod's variables; those that Kubernetes fills in from labels as it fills them in."""
    labels = {
        "metadata.labels['jobset.sigs.k8s.io/jobset-name']": objects("jobset.yaml")["JobSet"]["metadata"]["name"],
        "metadata.labels['batch.kubernetes.io/job-name']": objects("indexed-job.yaml")["Job"]["metadata"]["name"],
    }
    given = {}
    for entry in pod["containers"][0]["env"]:
        field = entry.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        given[entry["name"]] = entry.get("value") or labels.get(field, "")
    return given


def test_every_pod_has_a_place_and_nobody_is_missing() -> None:
    for scheduler in ("jobset", "indexed_job"):
        places = []
        for name, (count, pod) in pods().items():
            if name.split()[0] == scheduler:
                given = variables(pod) | {"REPLICATED_JOB_NAME": name.split()[-1]}
                places += [place_of(scheduler, given | {"JOB_COMPLETION_INDEX": str(i)}) for i in range(count)]
        workers = [place for place in places if place.job_name == "worker"]
        assert [place.task for place in workers] == list(range(workers[0].workers))
        assert len(places) - len(workers) == len(places[0].parameter_servers)
    service = objects("indexed-job.yaml")["Service"]
    assert variables(pods()["indexed_job"][1])["SERVICE_NAME"] == service["metadata"]["name"]
    assert pods()["indexed_job"][1]["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["publishNotReadyAddresses"]


@pytest.mark.parametrize("name", list(pods()))
def test_a_pod_has_what_its_node_needs(name: str) -> None:
    _, pod = pods()[name]
    (container,) = pod["containers"]
    assert f"--cluster={name.split()[0]}" in container["args"]
    defined = {row.name for row in flags_of(Options)}
    named = {each.removeprefix("--").partition("=")[0] for each in container["args"]}
    assert {each.removeprefix("no") if each.startswith("noshow") else each for each in named} <= defined
    ports = {each["containerPort"] for each in container["ports"]}
    assert ports == {PORT, ClusterOptions.coordinator_port}
    assert "DEEPSPEECH_COORD_TOKEN" in variables(pod)
    assert pod["terminationGracePeriodSeconds"] > STOPPING_SECONDS
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_a_pod_that_was_stopped_is_started_again_without_being_counted() -> None:
    jobs = [job["template"]["spec"] for job in objects("jobset.yaml")["JobSet"]["spec"]["replicatedJobs"]]
    for job in (*jobs, objects("indexed-job.yaml")["Job"]["spec"]):
        rules = job["podFailurePolicy"]["rules"]
        assert {rule["action"] for rule in rules} == {"Ignore"}
        (of_codes,) = (rule["onExitCodes"] for rule in rules if "onExitCodes" in rule)
        assert of_codes["values"] == [143]
        assert of_codes["containerName"] == job["template"]["spec"]["containers"][0]["name"]


def test_the_image_and_the_batch_file_start_the_program() -> None:
    image = (TRAINING / "Dockerfile").read_text()
    assert json.loads(re.findall(r"^ENTRYPOINT (.*)$", image, re.MULTILINE)[0]) == ["deepspeech-train"]
    assert re.findall(r"^EXPOSE (.*)$", image, re.MULTILINE) == [f"{PORT} {ClusterOptions.coordinator_port}"]
    assert {"XDG_DATA_HOME=/tmp", "XDG_CACHE_HOME=/tmp"} <= set(re.findall(r"XDG_\w+=/tmp", image))
    batch = (TRAINING / "training.sbatch").read_text()
    (scheduler,) = re.findall(r"deepspeech-train --cluster (\w+) ", batch)
    assert scheduler in PLACES
    assert int(re.findall(r"--signal=TERM@(\d+)", batch)[0]) > STOPPING_SECONDS
    assert "stopped=143" in batch
