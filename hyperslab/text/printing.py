"""Text from records, names or files, made fit for where it is shown."""

import re

# Control characters, ends of lines, and what turns the direction of letters.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>$~|&@])")


def printable(given: str) -> str:
    """Return text from records, names or files as a terminal may have it: on one line."""
    return _CONTROL.sub(" ", given)


def data(given: str) -> str:
    """Return text from records, names or files as MyST that shows it and does nothing else."""
    return _MARKUP.sub(r"\\\1", printable(given))


def listing(items: list[str], most: int = 3) -> str:
    """Return a few items as a list in a sentence."""
    if not items:
        return "none"
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else items[0]
