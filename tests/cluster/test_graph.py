"""The tensors that a worker's graph sends to the parameter servers and receives from them."""

from math import prod
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from benchmarks.processes.ports import free_ports
from deepspeech.cluster.coordination.rounds import NUMBERS_PER_ROUND
from deepspeech.cluster.graph import ClusterGraph, build_cluster_graph
from deepspeech.network import Network, network
from deepspeech.network.layers.native_ops import native_ops
from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.options import ModelOptions, OptimizerOptions, SessionOptions
from deepspeech.options.model import ConformerOptions, NetworkOptions
from deepspeech.training.towers import GraphSettings
from deepspeech.util.features import FeatureOptions

NETWORK = network(ModelOptions(n_hidden=64), 26, 28)
PLAIN = FeatureOptions()
ONE_BLOCK = NetworkOptions(conformer=ConformerOptions(layers=1))

SMALL_NETWORKS = [
    network(ModelOptions(n_hidden=8, dropout_rate=0.0), 26, 28),
    network(ModelOptions(network="conformer", n_hidden=16, dropout_rate=0.0, settings=ONE_BLOCK), 26, 28),
]


SERVERS: list[Any] = []
"""TensorFlow's servers cannot be stopped: they live as long as the process."""

FBANK = FeatureOptions(feature_type="fbank", normalization="running")


def built(
    devices: int,
    mixed_precision: str,
    network: Network = NETWORK,
    features: FeatureOptions = PLAIN,
    *,
    servers: int = 2,
    offers: bool = False,
    gradient_type: str = "float32",
    optimizer: OptimizerOptions = OptimizerOptions(),  # noqa: B008 - frozen
) -> ClusterGraph:
    settings = GraphSettings(network, SessionOptions(mixed_precision=mixed_precision), 1, optimizer, features)
    here = [f"/cpu:{device}" for device in range(devices)]
    return build_cluster_graph(0, servers, here, settings, offers=offers, gradient_type=gradient_type)


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
    """Return the device of an operation; if it has none, that of the variable that it reads."""
    return str(operation.device or operation.inputs[0].device).split("/device")[0].split("/cpu")[0]


def bytes_travelling(operations: set[Any], to_job: str) -> int:
    """Return the tensors that a job receives from elsewhere; a tensor is sent once to each of its tasks."""
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
    towers_apart = devices if mixed_precision == "on" else 1  # in float32, they are added up before they are sent
    gradients = sum(
        prod(shape) * (4 if name in wide else weight_bytes * towers_apart) for name, shape in shapes.items()
    )
    few = 100  # bytes: the number of utterances, the round's, and the norm
    assert gradients <= bytes_travelling(step, "ps") <= gradients + few
    assert weights <= bytes_travelling(step, "worker") <= devices * weights + few


@pytest.mark.parametrize("offers", [False, True])
def test_a_step_is_applied_where_the_weights_are(offers: bool) -> None:
    graph = built(1, "off", offers=offers)
    step = needed(graph.apply, graph.applied)
    few = 100  # bytes: the round's number, how many gradients, the learning rate, and the numbers of utterances
    assert 0 < bytes_travelling(step, "worker") <= few
    assert bytes_travelling(step, "ps") <= few


@pytest.mark.parametrize("mixed_precision", ["on", "off"])
def test_gradients_travel_in_half_the_bytes_as_bfloat16(mixed_precision: str) -> None:
    graph = built(1, mixed_precision, gradient_type="bfloat16").training
    step = needed(graph.train_step, graph.gradient_norm, *(tower.losses for tower in graph.train_towers))
    gradients = sum(2 * prod(shape) for shape in NETWORK.shapes.values())
    assert gradients <= bytes_travelling(step, "ps") <= gradients + 100


@pytest.fixture(scope="module")
def target() -> str:
    """Return the address of a worker of a cluster in this process, with one parameter server."""
    return new_cluster()


@pytest.fixture(scope="module", params=SMALL_NETWORKS, ids=lambda model: str(model.name))
def model_and_target(request: pytest.FixtureRequest) -> tuple[Network, str]:
    """Return a network, and the address of a worker of a cluster that no other network has used."""
    return request.param, new_cluster()


def new_cluster() -> str:
    """Start a cluster in this process, and return its worker's address."""
    server, worker = (f"localhost:{port}" for port in free_ports(2))
    spec = tf.train.ClusterSpec({"ps": [server], "worker": [worker]})
    SERVERS.extend(tf.compat.v1.train.Server(spec, job, 0) for job in ("ps", "worker"))
    return str(SERVERS[-1].target)


@pytest.mark.parametrize("offers", [False, True])
def test_a_step_applies_the_gradients_that_were_sent_for_its_round_and_none_that_come_late(
    target: str, offers: bool
) -> None:
    graph = built(1, "off", network(ModelOptions(n_hidden=8), 26, 28), servers=1, offers=offers)
    (tower,) = graph.training.train_towers
    fed = {tower.weight: 1.0, graph.contributions: 1, graph.training.learning_rate: 0.001}
    with graph.training.graph.as_default(), tf.compat.v1.Session(target) as session:

        def send(utterances: int, round_number: int) -> None:
            batch = {
                tower.features: np.zeros((utterances, 20, 26), np.float32),
                tower.lengths: np.full(utterances, 20, np.int32),
                tower.labels: np.ones((utterances, 2), np.int32),
            }
            at = {graph.round_number: round_number}
            session.run(graph.training.train_step, {**fed, **batch, **at})
            if graph.send is not None:
                session.run(graph.training.train_step, {**fed, **batch, **at})  # this gradient is kept and never sent
                session.run(graph.send, at)

        def apply(round_number: int) -> float:
            _, applied = session.run([graph.apply, graph.applied], {**fed, graph.round_number: round_number})
            return float(applied[0])

        session.run(tf.compat.v1.global_variables_initializer())
        session.run(graph.discard, {graph.round_number: 1000 - NUMBERS_PER_ROUND})
        for turn in range(4):
            now = 1000 + turn * NUMBERS_PER_ROUND
            send(5, now - NUMBERS_PER_ROUND)  # too late
            send(2 + turn, now)
            assert apply(now) == 2 + turn
        now += NUMBERS_PER_ROUND
        send(7, now)
        session.run(graph.discard, {graph.round_number: now})
        send(8, now)
        send(3, now + NUMBERS_PER_ROUND)
        assert apply(now + NUMBERS_PER_ROUND) == 3


def sent(graph: ClusterGraph, session: Any, round_number: int) -> float:
    """Send the gradient of a batch for a round, and return its norm."""
    (tower,) = graph.training.train_towers
    fed = {
        tower.features: np.random.default_rng(1).normal(size=(3, 20, 26)).astype(np.float32),
        tower.lengths: np.full(3, 20, np.int32),
        tower.labels: np.ones((3, 2), np.int32),
        tower.weight: 1.0,
        graph.round_number: round_number,
    }
    norm, _ = session.run([graph.training.gradient_norm, graph.training.train_step], fed)
    return float(norm)


def steps_of(graphs: list[ClusterGraph], target: str) -> tuple[list[Any], list[float]]:
    """Return the change of the weights in a step with one gradient of each worker's graph, and the gradients' norms."""
    norms = []
    chief = graphs[0]
    with chief.training.graph.as_default(), tf.compat.v1.Session(target) as session:
        session.run(tf.compat.v1.global_variables_initializer())
        session.run(chief.discard, {chief.round_number: 1000 - NUMBERS_PER_ROUND})
        weights = tf.compat.v1.trainable_variables()
        before = session.run(weights)
        for graph in graphs:
            with graph.training.graph.as_default(), tf.compat.v1.Session(target) as of_worker:
                norms.append(sent(graph, of_worker, 1000))
        at = {chief.round_number: 1000, chief.contributions: len(graphs), chief.training.learning_rate: 0.1}
        _, applied = session.run([chief.apply, chief.applied], at)
        assert applied.tolist() == [3.0 * len(graphs)]
        return [now - then for now, then in zip(session.run(weights), before, strict=True)], norms


@pytest.mark.parametrize(
    ("mixed_precision", "gradient_type"), [("off", "float32"), ("on", "float32"), ("off", "bfloat16")]
)
def test_gradients_arrive_as_they_do_without_the_native_operations(
    model_and_target: tuple[Network, str], mixed_precision: str, gradient_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, target = model_and_target
    found = []
    for ops in (native_ops, lambda: None):
        monkeypatch.setattr("deepspeech.cluster.graph.native_ops", ops)
        graph = built(1, mixed_precision, model, servers=1, gradient_type=gradient_type)
        joins = [operation.type for operation in graph.training.graph.get_operations()].count("DeepspeechJoin")
        assert joins == (ops is native_ops)
        found.append(steps_of([graph], target))
    (steps, norms), (expected, expected_norms) = found
    assert norms == pytest.approx(expected_norms, rel=1e-5)
    assert norms[0] > 0
    for ours, tensorflows in zip(steps, expected, strict=True):
        np.testing.assert_array_equal(ours, tensorflows)


def test_gradients_of_workers_that_compute_with_other_types_are_added_up(
    model_and_target: tuple[Network, str],
) -> None:
    model, target = model_and_target
    linear = OptimizerOptions(epsilon=1e3)  # so that a step is proportional to the gradient
    with_float32, with_bfloat16 = (
        built(1, precision, model, servers=1, optimizer=linear) for precision in ("off", "on")
    )
    expected, _ = steps_of([with_float32, with_float32], target)
    steps, _ = steps_of([with_float32, with_bfloat16], target)
    for mixed, alike in zip(steps, expected, strict=True):
        assert np.linalg.norm(mixed - alike) < 0.1 * np.linalg.norm(alike) + 1e-9


@pytest.mark.parametrize(("name", "n_hidden", "expected"), [("deepspeech", 512, 7), ("conformer", 64, 3)])
def test_small_gradients_travel_together(name: str, n_hidden: int, expected: int) -> None:
    model = network(ModelOptions(network=name, n_hidden=n_hidden, settings=ONE_BLOCK), 26, 28)
    graph = built(1, "on", model, servers=1).training
    messages = {
        tensor.ref()
        for operation in needed(graph.train_step)
        for tensor in operation.inputs
        if "job:ps" in task_of(operation) and task_of(tensor.op) != task_of(operation)
    }
    assert len(messages) == expected + 2  # and the round's number, and that of utterances
    assert len(messages) < len(model.shapes)


def test_workers_share_the_statistics_of_features_and_do_not_train_them() -> None:
    graph = built(1, "off", network(ModelOptions(n_hidden=16), FBANK.width, 28), FBANK).training
    variables = {variable.op.name: variable for variable in graph.graph.get_collection("variables")}
    assert all(variables[name].device.startswith("/job:ps") for name in (MEAN, DEVIATION))
    for tower in (*graph.train_towers, *graph.evaluate_towers):
        assert {variables[MEAN].op, variables[DEVIATION].op} <= needed(tower.posteriors)
    trained = {variable.op.name for variable in graph.graph.get_collection("trainable_variables")}
    assert trained and not trained & {MEAN, DEVIATION}
