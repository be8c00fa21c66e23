"""Starts the cluster node that the flags describe."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from ..checkpoints.identity import ModelIdentity
from ..checkpoints.lock import locked_for_training
from ..decoder.evaluation import Evaluation
from ..errors import ClusterError, DeepSpeechError
from ..network.checks.own_layers import warn_of_own_layers
from ..options import ClusterOptions, Options
from ..options.cluster import ANY_PLACE
from ..training.data_set import open_sets
from ..training.graph import Session, prepare_process, session_config
from ..training.inputs import read_inputs
from ..training.interruption import Interrupted, InterruptionWatch, PlainEnding
from ..training.scoring import evaluator_of
from ..training.towers import GraphSettings, compute_devices, padded_length_for
from ..util.features import front_end
from ..util.feeding import UNREADABLE
from ..util.signals import ended_by_signals
from .addresses.announcing import (
    ConnectionOfAnyPlace,
    own_address,
    place_kept,
    port_to_listen_on,
    take_place,
    wait_for_name,
)
from .allreduce.graph import AllReduceGraph, build_all_reduce_graph
from .allreduce.listening import listen_for_ring
from .allreduce.replica import Replica
from .chief import Chief
from .coordination.coordinator import ClusterCoordinator
from .coordination.errors import CoordinatorError, TrainingStoppedError
from .coordination.membership import ClusterSettings, Role
from .departure import LEFT, Departure
from .graph import ClusterGraph, build_cluster_graph
from .http.client import RETRY_SECONDS, Address, Connection
from .http.libraries import check_libraries
from .http.service import Service
from .monitoring.node_record import NodeRecord
from .monitoring.spans import spans_to
from .monitoring.step_traces import StepTraces
from .node import (
    address_of,
    applicant_of,
    gradients_per_step,
    has_spares,
    new_process,
    port_of,
    read_token,
    start_server,
    stopped_with_all,
)
from .parameter_server import serve_parameters
from .properties import code_property, worker_properties
from .worker import WorkerContext, work_until_over

logger = logging.getLogger(__name__)

ENDING = PlainEnding(
    "finishing this step, then leaving the cluster", "stopped; the cluster notices when this node falls silent"
)
"""How a worker ends after a signal."""

CHIEF_ENDING = PlainEnding(
    "telling the other nodes, which end too", "stopped; the same commands go on from the last checkpoint"
)
"""How the chief ends after a signal while no weights are loaded that it could save."""


def take_part(options: Options, cluster: ClusterOptions, record: NodeRecord | None = None) -> None:
    """Run the node that the flags describe until training is over. Raises a DeepSpeechError, or Interrupted.

    `record` gets the node's state and time use.
    """
    with locked_for_training(options.checkpoints.directory) if _saves(options, cluster) else nullcontext():
        _take_part(options, cluster, record or NodeRecord())


def _saves(options: Options, cluster: ClusterOptions) -> bool:
    return options.trains and cluster.is_chief


def _take_part(options: Options, cluster: ClusterOptions, record: NodeRecord) -> None:
    prepare_process(options.session)
    if cluster.job_name == "ps":
        serve_parameters(options, cluster, record)
        return
    if cluster.is_chief:
        check_libraries("the coordinator")
    token = read_token(cluster)
    inputs = read_inputs(options)
    features, devices = front_end(options.features), compute_devices()
    identity = ModelIdentity(inputs.alphabet, options.features, options.model)
    evaluation = Evaluation(inputs.decoder, options.test.files)
    with (
        open_sets(options, inputs, features, padded_length_for(devices), towers=len(devices)) as sets,
        evaluator_of(options, inputs, identity.network, evaluation) as evaluator,
    ):
        kind = ConnectionOfAnyPlace if cluster.task == ANY_PLACE else Connection
        connection, process = kind(address_of(cluster, token)), new_process()
        with _placed(options, connection, process) as placed:
            if placed is None:
                logger.info("Training is over; this worker took no part in it")
                return
            options, cluster = placed, placed.cluster
            record.name = cluster.node_name
            with ended_by_signals():
                if cluster.is_chief:
                    warn_of_own_layers(identity.network, session_config(options.session))
                graph = _graph(options, cluster, identity, devices)
                target, address, replica = _listen(options, cluster, graph)
        plans = {name: data_set.plan for name, data_set in sets.items()}
        properties = worker_properties(options, inputs.alphabet, plans, inputs.sources)
        applicant = applicant_of(cluster, process, properties, address)
        context = WorkerContext(options, cluster, applicant, connection, target, graph, sets, evaluator, record)
        context = replace(context, replica=replica)
        ending = CHIEF_ENDING if cluster.is_chief else ENDING
        with spans_to(options.tracing.endpoint, record.name) as spans, InterruptionWatch(ending) as watch:
            context = replace(context, spans=spans)
            if cluster.is_chief:
                _lead(context, identity, token, watch)
            else:
                _work(context, watch)


@contextmanager
def _placed(options: Options, connection: Connection, process: str) -> Iterator[Options | None]:
    """Yield the options with this node's place, or None if training is over.

    A place that the coordinator assigns is kept reserved meanwhile. Raises ClusterError, and Interrupted if the chief
    was told to stop.
    """
    if options.cluster.task != ANY_PLACE:
        yield options
        return
    patience = options.cluster.coordinator_retries * RETRY_SECONDS
    try:
        task = take_place(connection, process, patience)
    except TrainingStoppedError as error:
        raise stopped_with_all(error) from error
    except CoordinatorError as error:
        raise ClusterError(str(error)) from error
    if task is None:
        yield None
        return
    logger.info("This is worker %d", task)
    with place_kept(connection, process):
        yield replace(options, cluster=replace(options.cluster, task=task))


def _graph(
    options: Options, cluster: ClusterOptions, identity: ModelIdentity, devices: Sequence[str]
) -> ClusterGraph | AllReduceGraph:
    settings = GraphSettings.of(options, identity.network, trains=options.trains)
    if cluster.all_reduces:
        return build_all_reduce_graph(cluster.task, devices, settings)
    servers, spares = len(cluster.parameter_servers), has_spares(options)
    return build_cluster_graph(
        cluster.task, servers, devices, settings, offers=spares, gradient_type=cluster.gradient_type
    )


def _listen(
    options: Options, cluster: ClusterOptions, graph: ClusterGraph | AllReduceGraph
) -> tuple[str, str, Replica | None]:
    """Start to listen for other nodes; return the worker's TensorFlow target, its address, and its replica.

    The address is empty if the other nodes know it from their flags. A worker that holds the weights has a replica, but
    no TensorFlow server.
    """
    if isinstance(graph, AllReduceGraph):
        listener, address = listen_for_ring(cluster)
        session = Session(graph=graph.training.graph, config=session_config(options.session))
        return "", address, Replica(graph, session, listener, cluster.gradient_type)
    if not cluster.announces:
        return start_server(options, cluster).target, "", None
    server = start_server(options, cluster, {cluster.task: f"localhost:{port_to_listen_on(cluster)}"})
    return server.target, own_address(cluster, port_of(server)), None


def _lead(context: WorkerContext, identity: ModelIdentity, token: str | None, watch: InterruptionWatch) -> None:
    from .http.server import Server

    service = Service(_coordinator(context), traces=StepTraces(context.spans))
    cluster = context.cluster
    if cluster.announces:
        wait_for_name(cluster.coordinator_host, cluster.coordinator_retries * RETRY_SECONDS)
    with Server(service, cluster.coordinator_host, cluster.coordinator_port, token) as server:
        logger.info("Coordinator at %s", Address(cluster.coordinator_host, server.port))
        Chief(context, service, identity, watch).lead(lambda interrupted: work_until_over(context, interrupted))


def _work(context: WorkerContext, watch: InterruptionWatch) -> None:
    departure = Departure(context.record)
    watch.when_signalled = departure.begin
    context.connection.given_up = lambda: watch.signal_number is not None
    try:
        work_until_over(context, context.connection.given_up, departure.joined)
    except UNREADABLE as error:
        raise type(error)(f"{error}; the other workers go on without this one") from error
    except DeepSpeechError as error:
        if watch.signal_number is None:
            raise
        logger.debug("%s", error)
    if watch.signal_number is not None:
        raise Interrupted(watch.signal_number, LEFT)


def _coordinator(context: WorkerContext) -> ClusterCoordinator:
    cluster = context.cluster
    settings = ClusterSettings(
        cluster.places,
        len(cluster.parameter_servers),
        cluster.replicas * context.options.optimizer.accumulate_gradients,
        gradients_per_step(context.options),
        cluster.lease_seconds,
        cluster.least_workers,
        cluster.all_reduces,
    )
    required = {Role.WORKER: context.applicant.properties, Role.PARAMETER_SERVER: code_property()}
    # Round numbers must only grow, and the parameter servers may know those of an earlier coordinator.
    return ClusterCoordinator(settings, required, first_round=time.time_ns() // 1_000_000 * 1000)
