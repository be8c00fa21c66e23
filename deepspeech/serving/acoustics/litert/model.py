"""The speech model of a LiteRT file: its metadata, and its network, ready to run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ....errors import GraphError
from ....network.deepspeech import UNNAMED_NETWORK
from ....network.deepspeech import layers as layers_of_deepspeech
from ....network.description import Network, Sizes
from ...frozen.metadata import parse_network
from ...frozen.model import ModelInfo, check_version, read_info
from ...frozen.nodes import LARGEST_WIDTH, text_of
from .engine import LiteRTEngine
from .file import LiteFile, read_file
from .network import NetworkFile, network_file


def read_litert_model(path: Path, data: memoryview) -> tuple[ModelInfo, LiteRTEngine]:
    """Return the model of a file's content; raise GraphError, without the file's name, if it cannot be used."""
    file = read_file(data)
    constants = _Constants(file)
    check_version(constants)
    network = network_file(file)
    info = read_info(path, constants, _described(network, constants))
    return info, LiteRTEngine(network)


def _described(network: NetworkFile, constants: _Constants) -> Network:
    """Return the description of a network; a file without one has DeepSpeech's network, with ReLUs limited to 20."""
    _, _, window, coefficients = network.input_shape
    if max(network.units, network.outputs, network.window_width) > LARGEST_WIDTH:
        raise GraphError("has a layer that is too large to be run")
    if "metadata_network" in constants.nodes:
        described = parse_network(text_of(constants, "metadata_network"), coefficients)
        units = sum(layer.units for layer in described.recurrent_layers)
        if described.context != window // 2 or units != network.units or described.outputs != network.outputs:
            raise GraphError("has a network that its description does not fit")
        return described
    sizes = Sizes(
        coefficients=network.window_width,
        outputs=network.outputs,
        n_hidden=network.units,
        relu_clip=20,
        context=0,
        dropout_rates=(0.0,) * 6,
    )
    return Network(UNNAMED_NETWORK, network.window_width, layers_of_deepspeech(sizes))


class _Constants:
    """The inputs and outputs of a graph by name; those that need no computation can be read as constants."""

    def __init__(self, file: LiteFile) -> None:
        self._file = file
        self._numbers = {**file.inputs, **file.outputs}
        self.nodes = {name: file.tensors[number] for name, number in self._numbers.items()}

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape of a constant."""
        return self.constant(name).shape

    def constant(self, name: str) -> npt.NDArray[Any]:
        """Return the value of a constant, or of an operator's output that is a single constant of the same type.

        The clients need such an operator, although it computes nothing. Strings are an object array of bytes. Raise
        GraphError for anything else.
        """
        if name not in self.nodes:
            raise GraphError(f"it has no {name}")
        tensor = self.nodes[name]
        maker = self._file.maker_of(self._numbers[name])
        sources = [self._file.tensors[number] for number in maker.inputs if number >= 0] if maker else [tensor]
        values = [source.value() for source in sources if source.type == tensor.type and source.content is not None]
        if not values or values[0].size != max(1, np.prod(tensor.shape)):
            raise GraphError(f"its {name} is not a constant")
        return values[0]
