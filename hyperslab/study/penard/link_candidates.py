"""Links that the document's seconds may have come over: what each read would take over them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from ...measure.records import main
from ...network import Link
from .link_model import predictions
from .slow_start import slow_start_s


@dataclass(frozen=True)
class Candidate:
    """A link that may have been the document's.

    Parameters
    ----------
    words : str
        What tables call it.
    link : Link
    slow_start : bool
        Whether connections begin as TCP's do, which links of ours leave out.
    """

    words: str
    link: Link
    slow_start: bool = False

    def seconds(self, records: pd.DataFrame) -> pd.DataFrame:
        """Return what each case would take over it, by the model.

        Parameters
        ----------
        records : pandas.DataFrame
            Of experiments over one link, which tell what each read moves.

        Returns
        -------
        pandas.DataFrame
            panel, way, case, seconds.
        """
        found = predictions(records, self.link)
        if self.slow_start:
            rows = main(records).groupby("case")[["wire_bytes", "connections"]].max()
            each = (rows["wire_bytes"] / rows["connections"].clip(lower=1))[found["case"]]
            found["seconds"] += [slow_start_s(self.link, size) for size in each]
        return found


def candidates(links: Mapping[str, Link]) -> list[Candidate]:
    """Return the links that are compared with the document's seconds.

    Parameters
    ----------
    links : mapping
        From `link.links`.

    Examples
    --------
    >>> known = {"delay": Link(1e9, 0.1), "stated": Link(1e5, 0.1), "observed": Link(12.5e6, 0.1)}
    >>> candidates(known)[-1]  # doctest: +ELLIPSIS
    Candidate(words='100 Mbit/s, 100 ms each way, slow start', link=Link(...0.2), slow_start=True)
    """
    wide = links["observed"]
    delay = f"{1e3 * wide.round_trip_s:.0f} ms"
    rate = f"{8e-6 * wide.bytes_per_s:.0f} Mbit/s"
    there_and_back = replace(wide, round_trip_s=2 * wide.round_trip_s)
    return [
        Candidate("as stated", links["stated"]),
        Candidate("delay alone", links["delay"]),
        Candidate(f"{rate}, {delay}", wide),
        Candidate(f"{rate}, {delay}, slow start", wide, slow_start=True),
        Candidate(f"{rate}, {delay} each way, slow start", there_and_back, slow_start=True),
    ]
