"""What the chief's log says of the batches that were counted, and of those that are in the weights."""

import json
import re
from collections import Counter


def batches_counted(log: str) -> Counter[tuple[str, int, int]]:
    """Return how often each batch of each set and epoch (from 1) was counted."""
    return Counter(
        (name, int(epoch), int(batch))
        for name, epoch, batches in re.findall(r"counted: (\w+) set, epoch (\d+), batches \[(.*)\]", log)
        for batch in batches.split(",")
    )


def utterances_applied(log: str) -> int:
    """Return how many utterances' gradients were in the steps of each parameter server together."""
    steps = [json.loads(step) for step in re.findall(r"applied: gradients of (\[.*\]) utterances", log)]
    assert all(len(set(step)) == 1 for step in steps)
    return sum(step[0] for step in steps)
