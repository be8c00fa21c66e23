"""Starts the node of a cluster that the flags name."""

import logging
import time
from contextlib import nullcontext

from ..checkpoints.identity import ModelIdentity
from ..checkpoints.lock import locked_for_training
from ..errors import DeepSpeechError
from ..options import ClusterOptions, Options
from ..training.data_set import open_sets
from ..training.graph import fix_threads
from ..training.inputs import alphabet_of_best_paths, read_inputs
from ..training.interruption import Interrupted, InterruptionWatch, PlainEnding
from ..training.scoring import Evaluator
from ..training.towers import compute_devices
from ..util.features import front_end
from ..util.feeding import UNREADABLE
from .chief import Chief
from .coordination.coordinator import ClusterCoordinator
from .coordination.membership import ClusterSettings, Role
from .graph import build_cluster_graph
from .http.client import Connection
from .http.libraries import check_libraries
from .http.service import Service
from .node import (
    address_of,
    applicant_of,
    end_hard_after_signal,
    gradients_per_step,
    has_spares,
    read_token,
    start_server,
)
from .parameter_server import serve_parameters
from .properties import code_property, worker_properties
from .worker import WorkerContext, work_until_over

logger = logging.getLogger(__name__)

ENDING = PlainEnding(
    "finishing this step, then leaving the cluster", "stopped; the cluster learns of it when this node falls silent"
)
"""That of a worker, and of the chief until there are weights."""


def take_part(options: Options, cluster: ClusterOptions) -> None:
    """Be the node that the flags name until training is over. Raises a DeepSpeechError, or Interrupted."""
    with locked_for_training(options.checkpoints.directory) if _saves(options, cluster) else nullcontext():
        _take_part(options, cluster)


def _saves(options: Options, cluster: ClusterOptions) -> bool:
    return options.trains and cluster.is_chief


def _take_part(options: Options, cluster: ClusterOptions) -> None:
    fix_threads(options.session)
    if cluster.job_name == "ps":
        serve_parameters(options, cluster)
        return
    if cluster.is_chief:
        check_libraries("the coordinator")
    token = read_token(cluster)
    inputs = read_inputs(options)
    features = front_end(options.features)
    written = alphabet_of_best_paths(options, inputs)
    identity = ModelIdentity(inputs.alphabet, options.features, options.model)
    frames_per_row = identity.network.time_reduction
    evaluation = Evaluator(inputs.decoder, options.test.files, alphabet=written, frames_per_row=frames_per_row)
    with open_sets(options, inputs, features) as sets, evaluation as evaluator:
        graph = build_cluster_graph(
            cluster.task,
            len(cluster.parameter_servers),
            compute_devices(),
            network=identity.network,
            optimizer_options=options.optimizer if options.trains else None,
            session_options=options.session,
            random_seed=options.random_seed,
            features=options.features,
            offers=has_spares(options),
            gradient_type=cluster.gradient_type,
        )
        properties = worker_properties(
            options, inputs.alphabet, {name: data_set.plan for name, data_set in sets.items()}
        )
        context = WorkerContext(
            options,
            cluster,
            applicant_of(cluster, properties),
            Connection(address_of(cluster, token)),
            start_server(options, cluster).target,
            graph,
            sets,
            evaluator,
        )
        with InterruptionWatch(ENDING) as watch:
            if cluster.is_chief:
                _lead(context, identity, token, watch)
            else:
                _work(context, watch)


def _lead(context: WorkerContext, identity: ModelIdentity, token: str | None, watch: InterruptionWatch) -> None:
    from .http.server import Server

    service = Service(_coordinator(context))
    cluster = context.cluster
    with Server(service, cluster.coordinator_host, cluster.coordinator_port, token) as server:
        logger.info("Coordinator at http://%s:%d", cluster.coordinator_host, server.port)
        Chief(context, service, identity, watch).lead(lambda interrupted: work_until_over(context, interrupted))


def _work(context: WorkerContext, watch: InterruptionWatch) -> None:
    watch.when_signalled = end_hard_after_signal
    context.connection.given_up = lambda: watch.signal_number is not None
    try:
        work_until_over(context, context.connection.given_up)
    except UNREADABLE as error:
        raise type(error)(f"{error}; the other workers go on without this one") from error
    except DeepSpeechError as error:
        if watch.signal_number is None:
            raise
        logger.debug("%s", error)
    if watch.signal_number is not None:
        raise Interrupted(watch.signal_number, "interrupted; the other workers go on without this one")


def _coordinator(context: WorkerContext) -> ClusterCoordinator:
    cluster = context.cluster
    settings = ClusterSettings(
        len(cluster.workers),
        len(cluster.parameter_servers),
        cluster.replicas * context.options.optimizer.accumulate_gradients,
        gradients_per_step(context.options),
        cluster.lease_seconds,
    )
    required = {Role.WORKER: context.applicant.properties, Role.PARAMETER_SERVER: code_property()}
    # The parameter servers may have seen rounds of an earlier coordinator, and numbers must only ever grow.
    return ClusterCoordinator(settings, required, first_round=time.time_ns() // 1_000_000 * 1000)
