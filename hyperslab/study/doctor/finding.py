"""What was found of one thing, and what to do."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str  # what was looked at
    # "ok"; "note" when something is left out or will be noisy; "problem" when it stops `make
    # book`
    state: str
    text: str  # what was found, and what it means
    remedy: str = ""  # what to do, as a command where there is one; "" when there is nothing to do
