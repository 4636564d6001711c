"""What the document says cannot be read over HTTP or from S3, tried."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netCDF4
from numpy.typing import NDArray

from ..io.experiment import Case, File, columns
from ..io.far import Place, done, served_folder
from ..io.selection import Selection
from ..io.work import Equals
from ..measure.case import Stopwatch
from ..network import Server
from ..network.server import BUCKET

TIMEOUT_S = 120.0


@dataclass(frozen=True)
class ReadByC:
    """Read part of a file or store by netCDF-C, from a server of HTTP, or of S3 with path style."""

    place: Place
    file: File
    selection: Selection  # as numpy has it
    mode: str  # what the address asks netCDF-C for, such as "bytes,s3"

    def parts(self, cache_state: str) -> dict[str, Any]:
        return {
            "run": self,
            "check": Equals(self.file.part(self.selection)),
            "columns": {**columns(self.file.layout, "netcdf4"), **self.place.columns},
        }

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        name, server = self.file.path.name, self.place.server
        assert isinstance(server, Server)
        if server.kind == "s3":
            options, name = server.storage_options, f"{BUCKET}/{name}"
            os.environ |= {
                "AWS_ACCESS_KEY_ID": options["key"],
                "AWS_SECRET_ACCESS_KEY": options["secret"],
                "AWS_DEFAULT_REGION": options["client_kwargs"]["region_name"],
            }
        with watch("open"):
            file = netCDF4.Dataset(f"{server.endpoint}/{name}#mode={self.mode}")
        file.set_auto_maskandscale(False)
        with watch("read"):
            values: NDArray[Any] = file[self.file.array.variable][self.selection]
        with watch("close"):
            file.close()
        return values


def outcomes(cases: Sequence[Case], folder: Path) -> Iterator[dict[str, object]]:
    with served_folder(folder) as web, served_folder(folder, "s3") as store:
        servers = {"http": web, "s3": store}
        yield from (outcome.row() for outcome in done(cases, servers, TIMEOUT_S, "netCDF4"))
