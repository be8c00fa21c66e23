"""What travels between a worker and the parameter servers, as the graph says it."""

from math import prod
from typing import Any

import pytest

from deepspeech.cluster.graph import ClusterGraph, build_cluster_graph
from deepspeech.network import Network, network
from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.options import ModelOptions, OptimizerOptions, SessionOptions
from deepspeech.util.features import FeatureOptions

NETWORK = network(ModelOptions(n_hidden=64), 26, 28)
PLAIN = FeatureOptions()


FBANK = FeatureOptions(feature_type="fbank", normalization="running")


def built(
    devices: int, mixed_precision: str, network: Network = NETWORK, features: FeatureOptions = PLAIN
) -> ClusterGraph:
    return build_cluster_graph(
        0,
        2,
        [f"/cpu:{device}" for device in range(devices)],
        network=network,
        optimizer_options=OptimizerOptions(),
        session_options=SessionOptions(mixed_precision=mixed_precision),
        random_seed=1,
        features=features,
    )


def needed(*fetches: Any) -> set[Any]:
    """Return the operations that compute the fetches."""
    found: set[Any] = set()
    waiting = [getattr(fetch, "op", fetch) for fetch in fetches]
    while waiting:
        operation = waiting.pop()
        if operation not in found:
            found.add(operation)
            waiting += [*(tensor.op for tensor in operation.inputs), *operation.control_inputs]
    return found


def task_of(operation: Any) -> str:
    """Return where an operation is: where the variable is that it reads, if nothing else is said."""
    return str(operation.device or operation.inputs[0].device).split("/device")[0].split("/cpu")[0]


def bytes_travelling(operations: set[Any], to_job: str) -> int:
    """Return what a job takes from elsewhere; a tensor travels once to each of its tasks."""
    tensors = {
        (tensor.ref(), task_of(operation)): tensor
        for operation in operations
        for tensor in operation.inputs
        if f"job:{to_job}" in task_of(operation) and task_of(tensor.op) != task_of(operation)
    }
    return sum(prod(tensor.shape.as_list()) * tensor.dtype.size for tensor in tensors.values())


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize(("mixed_precision", "weight_bytes"), [("on", 2), ("off", 4)])
def test_weights_and_gradients_travel_once_and_no_wider_than_they_are(
    devices: int, mixed_precision: str, weight_bytes: int
) -> None:
    graph = built(devices, mixed_precision).training
    step = needed(graph.train_step, graph.gradient_norm, *(tower.losses for tower in graph.train_towers))
    shapes = NETWORK.shapes
    wide = ("layer_6/weights", *(name for name in shapes if name.endswith("bias")))
    weights = sum(prod(shape) * (4 if name in wide else weight_bytes) for name, shape in shapes.items())
    towers_apart = devices if mixed_precision == "on" else 1  # in float32 they are added up before they set out
    gradients = sum(
        prod(shape) * (4 if name in wide else weight_bytes * towers_apart) for name, shape in shapes.items()
    )
    few = 100  # bytes: the number of utterances, the round's, and the norm
    assert gradients <= bytes_travelling(step, "ps") <= gradients + few
    assert weights <= bytes_travelling(step, "worker") <= devices * weights + few


def test_workers_share_the_statistics_of_features_and_do_not_train_them() -> None:
    graph = built(1, "off", network(ModelOptions(n_hidden=16), FBANK.width, 28), FBANK).training
    variables = {variable.op.name: variable for variable in graph.graph.get_collection("variables")}
    assert all(variables[name].device.startswith("/job:ps") for name in (MEAN, DEVIATION))
    for tower in (*graph.train_towers, *graph.evaluate_towers):
        assert {variables[MEAN].op, variables[DEVIATION].op} <= needed(tower.posteriors)
    trained = {variable.op.name for variable in graph.graph.get_collection("trainable_variables")}
    assert trained and not trained & {MEAN, DEVIATION}
