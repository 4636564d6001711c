"""What predicts times: the cost model, calibrated on this machine."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes

from ..model.errors import UncalibratedError
from ..model.geometry import geometry
from ..model.read import Read
from ..model.wire import wire_seconds
from .price import EVERY_BYTES, Packed, Predictor
from .sample import packed_bytes

if TYPE_CHECKING:
    from ..model import Calibration


@dataclass(frozen=True)
class Rough:
    """Seconds by counts alone, with typical costs of a machine that nobody has calibrated.

    Examples
    --------
    >>> Rough().name
    'counts with typical costs'
    """

    name: str = "counts with typical costs"

    def seconds(self, read: Read) -> float:
        """Return seconds from chunks, bytes and requests.

        Raises
        ------
        UnknownLibraryError
            Over a link, for a reader whose way of fetching is not known.
        """
        found = geometry(read)
        each = {"zarr": 400e-6, "subchunk": 60e-6}.get(read.library, 15e-6)
        byte_s = {None: 0.1e-9, "deflate": 4e-9, "zstd": 1.5e-9}.get(read.layout.codec, 0.7e-9)
        if read.layout.shuffle:
            byte_s += 0.3e-9
        decoded: float = found.decoded_bytes
        if read.library == "subchunk" and read.layout.codec:
            chunk = decoded / max(found.fetched, 1)
            decoded *= min(1.0, (read.every_bytes or EVERY_BYTES) / max(chunk, 1))
        busy = found.calls * 100e-6 + found.fetched * each + decoded * byte_s
        busy += found.runs * 0.2e-6 + found.useful_bytes * 0.2e-9
        if read.link is not None:
            return busy + wire_seconds(read, found)
        if read.cache == "cold":
            busy += found.stored_bytes / 1e9 + found.extents * 80e-6
        return busy

    def packed(
        self,
        values: NDArray[Any],
        layout: Layout,
        library: str,
        folder: Path,
        processes: Processes,
    ) -> Packed:
        """Return what values take, from a small file of them."""
        return Packed(packed_bytes(values, layout, folder))


@dataclass(frozen=True)
class Modelled:
    """Seconds by the cost model with this machine's calibration."""

    calibration: Calibration
    name: str = "the cost model of this machine"

    def seconds(self, read: Read) -> float:
        """Return predicted seconds.

        Raises
        ------
        UncalibratedError
            When the library or codec was not calibrated.
        """
        from ..model import predict

        return float(predict(read, self.calibration).seconds)

    def packed(
        self,
        values: NDArray[Any],
        layout: Layout,
        library: str,
        folder: Path,
        processes: Processes,
    ) -> Packed:
        """Return what values take, and how long decoding them takes, from a small file of them."""
        from ..model import measure_codec

        bare = replace(layout, shards=None, page_bytes=None)
        chunks = bare.chunks or values.shape
        if library == "subchunk" or math.prod(chunk_grid(values.shape, chunks)) < 2:
            return Packed(packed_bytes(values, layout, folder))
        try:
            found = measure_codec(values, bare, library, self.calibration, folder, processes)
        except UncalibratedError:
            return Packed(packed_bytes(values, layout, folder))
        size = math.prod(chunks)
        return Packed(found.chunk_bytes / size, found.decode_s / size)


def predictor(
    *,
    rough: bool = False,
    again: bool = False,
    workdir: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Predictor:
    """Return what predicts times here; the machine is calibrated where it is not yet.

    Parameters
    ----------
    rough
        Take typical costs, without a calibration.
    again
        Calibrate anew.
    workdir
        On the disk that is calibrated.
    say
        Is told that and why a calibration is made.

    Examples
    --------
    >>> predictor(rough=True).name
    'counts with typical costs'
    """
    if rough:
        return Rough()
    from ..model import Calibration, NoCalibrationError, calibrate

    why = "asked for"
    if not again:
        try:
            return Modelled(Calibration.load())
        except NoCalibrationError as error:
            why = str(error)
    if say:
        say(f"calibrating the cost model of this machine, in under two minutes ({why})")
    made = calibrate(workdir=workdir, progress=say is not None)
    place = made.save()
    if say:
        say(f"calibrated: {place}")
    return Modelled(made)


def known(folder: Path | None = None, *, rough: bool = False) -> Predictor:
    """Return what predicts times here, without calibrating: typical costs where it must.

    Parameters
    ----------
    folder
        Where a calibration may be kept, before the user's cache folder.
    rough
        Take typical costs.

    Examples
    --------
    >>> known(rough=True).name
    'counts with typical costs'
    """
    from ..model import Calibration, NoCalibrationError

    for place in () if rough else (folder, None):
        with contextlib.suppress(NoCalibrationError):
            return Modelled(Calibration.load(place))
    return Rough()
