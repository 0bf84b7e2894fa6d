"""Numbers as text, in bulk: the shortest decimals that read back as the same value, without exponents."""

import numpy as np
import numpy.typing as npt


def format_numbers(values: npt.NDArray[np.generic]) -> list[str]:
    """Text of every value in storage order; what is not finite becomes 0, as EZMesh writers have it.

    Args:
        values: float32, float64 or integers, any shape.  float32 values get the digits that float32 needs.
    """
    flat = values.ravel()
    if flat.dtype.kind != "f":
        return [str(value) for value in flat.tolist()]
    finite = np.where(np.isfinite(flat), flat, flat.dtype.type(0.0))
    texts: list[str] = finite.astype("U32").tolist()
    for index, text in enumerate(texts):
        if text.endswith(".0"):
            texts[index] = text[:-2]
        elif "e" in text:
            texts[index] = np.format_float_positional(finite[index], trim="-")
    return texts


def format_rows(columns: list[list[str]]) -> str:
    """One line for each item, a comma after each: `columns` hold the first, second, ... number of all items."""
    return "".join(f"{' '.join(row)},\n" for row in zip(*columns, strict=True))


def columns_of(values: npt.NDArray[np.generic]) -> list[list[str]]:
    """Texts of (n, k) values by column, or of (n,) values as one column."""
    width = 1 if values.ndim == 1 else values.shape[1]
    texts = format_numbers(values)
    return [texts[column::width] for column in range(width)]
