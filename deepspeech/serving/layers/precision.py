"""The precisions of an engine's weights."""

from __future__ import annotations

from enum import Enum

from ..._acoustic import has_bfloat16_products, has_int8_products, has_tile_products
from ...errors import ModelError


class Precision(Enum):
    """FLOAT32 keeps trained weights to more than four digits.

    BFLOAT16 rounds weights and a layer's inputs to bfloat16. INT8 rounds them to 8 bits: weights with a scale for each
    output, inputs with a scale for each frame. Neither changes the first and the last layer of a network.
    """

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    INT8 = "int8"

    @property
    def is_fast(self) -> bool:
        """Whether the processor has special instructions for products in this precision."""
        if self is Precision.BFLOAT16:
            return has_bfloat16_products()
        return self is Precision.INT8 and has_int8_products()

    @property
    def is_fastest(self) -> bool:
        """Whether the processor has tiles (AMX) for this precision; their products take less time than decoding."""
        return self.is_fast and has_tile_products()

    @classmethod
    def named(cls, name: str) -> Precision:
        """Return the precision of a name; `auto` is int8 if the processor has special instructions for it.

        Raise ModelError for any other name.
        """
        if name == AUTO:
            return cls.INT8 if cls.INT8.is_fast else cls.FLOAT32
        try:
            return cls(name)
        except ValueError:
            raise ModelError(f"precision {name!r} is none of {', '.join(PRECISIONS)}") from None


AUTO = "auto"
PRECISIONS = (*(precision.value for precision in Precision), AUTO)
"""The names of precisions."""
