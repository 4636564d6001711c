"""Which cases a profile measures, and in how many blocks: its rules in notebooks/study.yml."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..io import experiment as experiment_io
from ..measure.case import Case

Kind = TypeVar("Kind", bound=experiment_io.Case | Case)
_OF_ALL = ("blocks", "experiment", "cache_state")  # what a rule names beside labels


class CaseRules:
    """The rules `leave_out` and `fewer` among a profile's settings; each names labels of cases."""

    def __init__(self, settings: Mapping[str, object], whose: str) -> None:
        self._leave_out, self._fewer = (
            _listed(settings.get(name, [])) for name in ("leave_out", "fewer")
        )
        self._whose = whose  # the notebook and the profile

    def check(self, experiment: str, cases: Sequence[Kind]) -> None:
        """Refuse a rule for this experiment by a label that none of its cases has."""
        known = {*_OF_ALL}.union(*(case.labels for case in cases))
        for rule in (*self._leave_out, *self._fewer):
            wrong = sorted(rule.keys() - known)
            if cases and wrong and experiment in _listed(rule.get("experiment", [])):
                raise ValueError(
                    f"notebooks/study.yml, {self._whose}: no case of {experiment} has "
                    f"{wrong[0]!r}: they have {', '.join(sorted(known))}"
                )

    def taken(self, experiment: str, cases: Sequence[Kind]) -> list[Kind]:
        """Return the cases that the profile measures: those that no rule of `leave_out` fits."""
        return [c for c in cases if not any(_fits(r, experiment, c) for r in self._leave_out)]

    def limited(self, experiment: str, cases: Sequence[Kind]) -> list[Kind]:
        """Return cases that get no more blocks than a rule of `fewer` allows."""
        limited = list(cases)
        for rule in self._fewer:
            most, labels = rule["blocks"], {n: rule[n] for n in rule if n != "blocks"}
            for at, case in enumerate(limited):
                if _fits(labels, experiment, case):
                    limited[at] = replace(case, most_blocks=min(most, case.most_blocks or most))
        return limited


def _fits(rule: Mapping[str, object], experiment: str, case: experiment_io.Case | Case) -> bool:
    """Return whether a case has all that a rule of the profile names."""
    state = getattr(case, "cache_state", "")  # of a case that is ready
    of_case = {"experiment": experiment, "cache_state": state, **case.labels}
    return all(of_case.get(name) in _listed(value) for name, value in rule.items())


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]
