"""Measures the throughput of TensorFlow's runtime between two local processes, in each direction, in bytes a second.

    python -m benchmarks.simulation.network [--megabytes 48] [--times 25]

A worker reads a variable of a parameter server, and sends it a tensor of the same size. Prints the fastest and the
median of `--times` measurements.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable

from ..processes.arguments import at_least
from ..processes.ports import free_ports


def _spec(ports: list[int]) -> object:
    import tensorflow as tf

    return tf.train.ClusterSpec({"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]})


def serve(ports: list[int]) -> None:
    """Run the parameter server until killed."""
    import tensorflow as tf

    tf.compat.v1.train.Server(_spec(ports), "ps", 0).join()


def measure(ports: list[int], numbers: int, times: int) -> dict[str, list[float]]:
    """Return the seconds of each transfer of this many float32 numbers, read and sent."""
    import tensorflow as tf

    v1 = tf.compat.v1
    server = v1.train.Server(_spec(ports), "worker", 0)
    there, here = "/job:ps/task:0/cpu:0", "/job:worker/task:0/cpu:0"
    with tf.Graph().as_default():
        with tf.device(there):
            weights = v1.Variable(tf.zeros([numbers]), use_resource=True)
        with tf.device(here):
            gradient = v1.Variable(tf.zeros([numbers]), use_resource=True)
            read = tf.identity(weights.read_value()).op
        with tf.device(there):
            sent = tf.identity(gradient.read_value()).op
        with v1.Session(server.target) as session:
            session.run(v1.global_variables_initializer())
            return {
                name: [_seconds(lambda act=act: session.run(act)) for _ in range(times)]  # type: ignore[misc]
                for name, act in (("read", read), ("sent", sent))
            }


def _seconds(act: Callable[[], object]) -> float:
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=at_least(1), default=48)
    parser.add_argument("--times", type=at_least(1), default=25)
    options = parser.parse_args()
    ports = free_ports(2)
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(ports,), daemon=True)
    process.start()
    try:
        measured = measure(ports, options.megabytes * 250_000, options.times)
    finally:
        process.kill()
    for name, seconds in measured.items():
        best, median = (options.megabytes / each for each in (min(seconds), statistics.median(seconds)))
        print(f"{name}: {best:.0f} MB a second at best, {median:.0f} in the median")


if __name__ == "__main__":
    main()
