"""Why weights do not fit a model, in words."""

from ...network import Network


def is_of_another_alphabet(network: Network, name: str, found: tuple[int, ...]) -> bool:
    """Return whether a weight of the shape `found` has what the network's of this name has but for other labels."""
    shape = network.shapes[name]
    return network.layer_of(name) is network.layers[-1] and len(found) == len(shape) and found[:-1] == shape[:-1]


def another_alphabet(network: Network, name: str, found: tuple[int, ...]) -> str:
    """Return what follows from the shape `found` of a weight of the last layer that has other labels."""
    return (
        f"{name} is {found} in the file and {network.shapes[name]} in this model: the last layer has one unit per "
        f"label and one for the blank, so the file was trained with {found[-1] - 1} labels, this alphabet has "
        f"{network.outputs - 1}"
    )


def start_anew(network: Network, layers: int = 1) -> str:
    """Return the advice to begin last layers anew, and what is kept then."""
    dropped = network.last_layers(layers)
    kept = sum(network.layer_of(name) not in dropped for name in network.shapes)
    which = "that layer" if layers == 1 else f"the last {layers} layers"
    return f"start {which} anew with --drop_source_layers={layers}, which keeps {kept} of {len(network.shapes)} weights"
