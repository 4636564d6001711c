"""What was found of one thing, and what to do."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    subject : str
        What was looked at.
    state : str
        "ok"; "note" when something is left out or will be noisy; "problem" when it stops
        `make book`.
    text : str
        What was found, and what it means.
    remedy : str
        What to do, as a command where there is one; "" when there is nothing to do.
    """

    subject: str
    state: str
    text: str
    remedy: str = ""
