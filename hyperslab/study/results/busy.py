"""Whether times can be true: no machine's cores work longer than the clock lets them."""

from collections.abc import Iterator, Mapping

import pandas as pd

from .problem import Problem

SLACK = 1.1
"""So many times what its cores can do may stand there: clocks of either are read one by one."""


def busy_problems(
    frames: Mapping[str, pd.DataFrame], facts: Mapping[str, Mapping[str, object]]
) -> Iterator[Problem]:
    """Yield the experiments whose CPU time is more than their time on the clock allows."""
    for notebook, frame in frames.items():
        cores = _cores(facts.get(str(frame["run_id"].iloc[0]), {}))
        timed = frame[(frame["status"] == "ok") & frame["wall_s"].notna()]
        busy = timed.assign(cpu_s=timed["user_s"] + timed["sys_s"]).dropna(subset=["cpu_s"])
        sums = busy.groupby("experiment")[["cpu_s", "wall_s"]].sum()
        for experiment, (cpu_s, wall_s) in zip(sums.index, sums.to_numpy(), strict=True):
            if cores and cpu_s > SLACK * cores * wall_s:
                what = (
                    f"{experiment} took {cpu_s:.3g} s of CPU time in {wall_s:.3g} s on the clock, "
                    f"and the machine has {cores} cores: these times cannot both be true"
                )
                remedy = f"measure again with `hyperslab run {notebook} --again`"
                yield Problem(f"{notebook}.parquet", what, remedy, "wall_s")


def _cores(facts: Mapping[str, object]) -> int:
    identity = facts.get("identity")
    found = identity.get("cores") if isinstance(identity, Mapping) else None
    return found if isinstance(found, int) else 0
