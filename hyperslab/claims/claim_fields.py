"""The fields of a measure, as book/claims.yml gives them."""

from collections.abc import Mapping

from ..analysis.cells import Where
from ..analysis.quantities import QUANTITIES, Quantity

Fields = Mapping[str, object]


def quantity(fields: Fields) -> Quantity:
    return QUANTITIES[str(fields["value"])]


def where(fields: Fields, name: str) -> Where:
    """Return the filter of one side: the common one, and the side's own on top."""
    return {**mapping(fields, "where"), **mapping(fields, name)}


def phases(fields: Fields) -> tuple[str, ...]:
    """Return the phases whose values are summed."""
    return texts(fields.get("phases", ()))


def over(fields: Fields) -> tuple[str, ...]:
    """Return the columns that make groups."""
    return texts(fields.get("over", ()))


def texts(value: object) -> tuple[str, ...]:
    """Return one text or a list of them as a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def mapping(fields: object, name: str) -> dict[str, object]:
    """Return a field that is a mapping; empty when it is absent."""
    value = fields.get(name, {}) if isinstance(fields, Mapping) else fields
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {value!r}: give a mapping")
    return {str(key): item for key, item in value.items()}


def real(value: object) -> float:
    """Return a number, or a quotient of two written as text."""
    if isinstance(value, str):
        top, slash, bottom = value.partition("/")
        try:
            return float(top) / float(bottom) if slash else float(top)
        except (ValueError, ZeroDivisionError) as error:
            raise ValueError(f"{value!r} is no number: give one, or a quotient a / b") from error
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number: give one, or a quotient a / b")
    return float(value)
