"""The alphabet of an exported model, which spells transcripts in its labels."""

from ..errors import AlphabetError, GraphError
from ..util.output_units import restored_alphabet
from ..util.text import Alphabet
from .frozen.model import ModelInfo


def alphabet_of(info: ModelInfo) -> Alphabet:
    """Return a model's alphabet; raise GraphError if its labels do not make one."""
    try:
        return restored_alphabet(info.output_unit, info.labels, info.unit_data)
    except AlphabetError as error:
        raise GraphError(f"{info.path}: {error}") from error
