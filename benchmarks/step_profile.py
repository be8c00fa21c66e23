"""Profiles a training step: the seconds of each kind of operation, from TensorFlow's own trace.

    python -m benchmarks.step_profile [--n_hidden 1024] [--precision bfloat16]

Operations that run in parallel are each counted in full, so the sum may exceed the time of the step.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .processes.arguments import at_least
from .processes.step import Geometry
from .train_step import NETWORKS

TRACED = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Trace a few steps and print the mean of each kind of operation that takes 0.5 % or more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n_hidden", type=at_least(1), default=1024)
    parser.add_argument("--network", default="deepspeech", choices=NETWORKS)
    parser.add_argument("--batch", type=at_least(1), default=16)
    parser.add_argument("--frames", type=at_least(1), default=400)
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--threads", type=at_least(1), default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    numbers = Geometry(
        options.n_hidden, options.precision == "bfloat16", options.batch, options.frames, options.threads
    )
    seconds, step = traced_steps(replace(numbers, **NETWORKS[options.network]))
    print(f"a step: {step:.3f} s ({options.precision}, n_hidden {options.n_hidden})")
    for kind, total in sorted(seconds.items(), key=lambda item: -item[1]):
        if total / TRACED >= step * 0.005:
            print(f"{kind:>32} {total / TRACED:8.4f} s {total / TRACED / step:6.1%}")


def traced_steps(geometry: Geometry) -> tuple[dict[str, float], float]:
    """Return the seconds of each kind of operation in all traced steps, and of a step."""
    import tensorflow as tf  # after the arguments are read, as it takes seconds

    from .processes.our_step import training_step

    v1 = tf.compat.v1
    seconds: dict[str, float] = defaultdict(float)
    steps = []
    with training_step(geometry) as (session, fetches, feeds):
        traced = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        for turn in range(TRACED + 2):
            metadata = v1.RunMetadata()
            session.run(fetches, feeds, options=traced, run_metadata=metadata)
            if turn < 2:
                continue
            nodes = [node for device in metadata.step_stats.dev_stats for node in device.node_stats]
            begin = min(node.all_start_micros for node in nodes)
            end = max(node.all_start_micros + node.all_end_rel_micros for node in nodes)
            steps.append((end - begin) / 1e6)
            for node in nodes:
                seconds[kind_of(node.timeline_label)] += (node.op_end_rel_micros - node.op_start_rel_micros) / 1e6
    return seconds, float(np.median(steps))


def kind_of(label: str) -> str:
    """Return the kind of operation in a trace's label, "name = Kind(inputs)"."""
    return label.partition(" = ")[2].partition("(")[0] or label


if __name__ == "__main__":
    main()
