"""Why reads move what they move over the wire, in sentences with their numbers from the records."""

import pandas as pd

from ...subchunk.index.options import BUDGET
from ...text import amount
from .wire_words import by_case, megabytes, requested, value


def why(counted: pd.DataFrame) -> str:
    """Return what shuffle costs, what is asked for in turn, and what shards save.

    Parameters
    ----------
    counted : pandas.DataFrame
        Records of the experiment "wire".
    """
    rows = by_case(counted)
    return " ".join([*_shuffled(rows), *_in_turn(rows), *_shards(rows)])


def _shuffled(rows: pd.DataFrame) -> list[str]:
    """Return what a series takes with shuffle and without, through both kinds of index."""
    said = [
        f"{words} was sent {megabytes(rows, on)} with it and {megabytes(rows, off)} without"
        for words, on, off in (
            (words, f"gfs/series/{name}-on", f"gfs/series/{name}-off")
            for name, words in (
                ("chunkindex", "the document's kind of index"),
                ("subchunk", "ours"),
            )
        )
        if on in rows.index and off in rows.index
    ]
    if not said:
        return []
    return [
        "With shuffle the bytes of a value lie in four places of the chunk. For the temperature's "
        f"series {', '.join(said)}.",
        *_spacing(rows),
    ]


def _spacing(rows: pd.DataFrame) -> list[str]:
    """Return how far the points of our index lie apart, where that explains its bytes."""
    cases = "gfs/series/subchunk-on", "gfs/series/subchunk-off"
    if "spacing_bytes" not in rows or not set(cases) <= set(rows.index):
        return []
    apart = [value(rows, case, "spacing_bytes") for case in cases]
    of_file = [value(rows, case, "predicted_bytes") for case in cases]
    if not apart[0] < apart[1]:
        return []
    return [
        f"Points of ours lie {amount(apart[0], 'B')} apart with shuffle, and "
        f"{amount(apart[1], 'B')} without: the index may take {100 * BUDGET:.0f} % of the "
        "compressed data, and with shuffle a point has less to keep. So each of the four places "
        f"is read from nearer by: of the file itself {amount(of_file[0], 'B')} were sent, against "
        f"{amount(of_file[1], 'B')}."
    ]


def _in_turn(rows: pd.DataFrame) -> list[str]:
    """Return the stages of readers that ask for one chunk after another, and of ours."""
    chain = [
        f"{value(rows, case, 'stages'):.0f} by {words}"
        for case, words in (
            ("cmems/series/netcdf4-off", "netCDF4-python"),
            ("cmems/series/h5py-off-nocache", "h5py without a cache"),
            ("cmems/series/kerchunk-off", "kerchunk's references"),
            ("cmems/series/subchunk-off", "our index"),
        )
        if case in rows.index
    ]
    if not chain:
        return []
    return [
        "A library of HDF5 asks for one chunk after another, and so pays a round trip for "
        f"each; stages of the ocean's series: {', '.join(chain)}."
    ]


def _shards(rows: pd.DataFrame) -> list[str]:
    """Return what inner chunks of shards save, and what they cost."""
    return [
        f"From Zarr 3 in shards, each as large as the file's chunks, {words} took "
        f"{megabytes(rows, shards)} in {requested(rows, shards)}, "
        f"{value(rows, shards, 'stages'):.0f} of them one after another; from Zarr 2, "
        f"{megabytes(rows, whole)} in {requested(rows, whole)}, "
        f"{value(rows, whole, 'stages'):.0f} one after another."
        for words, shards, whole in (
            (words, f"{panel}/zarr3-shards", f"{panel}/zarr")
            for panel, words in (
                ("gfs/series", "the series of the temperature"),
                ("gfs/frame", "its map"),
            )
        )
        if shards in rows.index and whole in rows.index
    ]
