"""Explanations why weights do not fit a model."""

from ...network import Network


def is_of_another_alphabet(network: Network, name: str, found: tuple[int, ...]) -> bool:
    """Return whether the shape `found` differs from that of the network's weight of this name only by the labels."""
    shape = network.shapes[name]
    return network.layer_of(name) is network.layers[-1] and len(found) == len(shape) and found[:-1] == shape[:-1]


def another_alphabet(network: Network, name: str, found: tuple[int, ...]) -> str:
    """Return the explanation for a weight of the last layer that has the shape `found` because of other labels."""
    return (
        f"{name} is {found} in the file and {network.shapes[name]} in this model: the last layer has one unit per "
        f"label and one for the blank, so the file was trained with {found[-1] - 1} labels, this alphabet has "
        f"{network.outputs - 1}"
    )


def start_anew(network: Network, layers: int = 1) -> str:
    """Return the advice to reinitialize the last layers, and how many weights are kept."""
    dropped = network.last_layers(layers)
    kept = sum(network.layer_of(name) not in dropped for name in network.shapes)
    which = "that layer" if layers == 1 else f"the last {layers} layers"
    return f"start {which} anew with --drop_source_layers={layers}, which keeps {kept} of {len(network.shapes)} weights"
