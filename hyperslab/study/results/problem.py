"""What keeps records from being published."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperslab.text import printable

_SHOWN = 12


@dataclass(frozen=True)
class Problem:
    """One reason to refuse records, and what to do about it."""

    file: str
    what: str
    remedy: str
    column: str = ""  # of a table, or the fact of machine.json; "" for the whole file
    # whether it keeps records only from being published, and pages may be drawn from them
    publishing: bool = False

    def __str__(self) -> str:
        place = f"{self.file}, {self.column}" if self.column else self.file
        return printable(f"{place}: {self.what}; {self.remedy}")


class RefusedError(ValueError):
    """Records were not added, or not drawn from; the message has every reason."""

    def __init__(
        self, problems: Sequence[Problem], said: str = "refused, nothing was written:"
    ) -> None:
        self.problems = tuple(problems)
        shown = [f"  {problem}" for problem in self.problems[:_SHOWN]]
        more = [f"  and {len(self.problems) - _SHOWN} more"] if len(self.problems) > _SHOWN else []
        super().__init__("\n".join([said, *shown, *more]))
