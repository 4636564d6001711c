"""Every reader with every fault of a server: what it says."""

import re
import traceback
from contextlib import ExitStack
from datetime import timedelta

import fsspec
import numpy as np
import pytest
from forked_servers import forking
from range_server import Fault, faulty

from hyperslab import subchunk
from hyperslab.io import Layout, readers, references, write_array
from hyperslab.io import chunkindex_format as chunkindex
from hyperslab.io import reader as reader_named
from hyperslab.io.urls import Remote
from hyperslab.network import serving

CHUNKS = (1, 200, 300)
LAYOUTS = {
    "netcdf4": Layout("netcdf4", CHUNKS, "deflate", 4, shuffle=True),
    "hdf5": Layout("hdf5", CHUNKS, "deflate", 4, shuffle=True, page_bytes=65536),
    "zarr2": Layout("zarr2", CHUNKS, "blosc-lz4", shuffle=True),
}
SELECTION = (slice(None), 100, 150)
# netCDF-C and codecs do not say what a server did.
SILENT = "the library does not say what the server did"
RIGHT, FILLED = "right values", "fill values"
# Of each fault, how often it befalls, and what is said of it, unless the values are right: read
# ahead already, or asked for again.
FAULTS = {
    "gone": (1, "the connection broke off after|onnect|reset by peer|after 2 retries"),
    "whole": (99, "(?i)range request|copy the file"),
    "short": (1, r"the server sent \d+ of the \d+ bytes from \d+ .*: its answer is cut, not"),
    "403": (99, "403.*Forbidden|not there, or not for you"),
    "404": (99, f"404.*Not Found|is not there|failed to fetch target|{FILLED}"),
    "500": (2, "the server answered 500 Internal Server Error: its own fault; try again later"),
}
READ_AHEAD = ("h5py", "h5netcdf", "pyfive", "xarray-h5netcdf", "chunkindex_layout")
forked = pytest.fixture(scope="module", autouse=True)(forking)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files with what lies beside them, and what is in them."""
    folder = tmp_path_factory.mktemp("served")
    random = np.random.default_rng(1)
    values = np.cumsum(random.normal(size=(3, 200, 300)), axis=2).astype("f4")
    for name, layout in LAYOUTS.items():
        write_array(folder / f"{name}{layout.suffix}", values, layout, "main")
    file = folder / "netcdf4.nc"
    subchunk.build(file, spacing=16384)
    chunkindex.write(file, f"{file}.chunkindex")
    references.write(file)
    yield folder, values
    fsspec.filesystem("http").clear_instance_cache()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """obstore and xarray ask again, and wait longer each time, for a minute in all."""
    monkeypatch.setattr("xarray.backends.common.time.sleep", lambda _: None)
    known = Remote.obstore
    moment, limit = timedelta(milliseconds=10), timedelta(seconds=5)
    backoff = {"init_backoff": moment, "max_backoff": moment, "base": 2}
    few = {"retry_config": {"max_retries": 2, "backoff": backoff, "retry_timeout": limit}}
    monkeypatch.setattr(Remote, "obstore", lambda self: known(self) | few)


def file_of(name):
    """A file that a reader reads."""
    layout = "hdf5" if name == "h5py-paged" else "netcdf4"
    layout = layout if layout in reader_named(name).formats else "zarr2"
    return f"{layout}{LAYOUTS[layout].suffix}"


def whispered(address):
    """An address with what nobody may see; of a store, which has no query, a user and password."""
    query = "" if address.endswith(".zarr") else "?token=canary-query&X-Amz-Signature=canary"
    return address.replace("//", "//canary-user:canary%2Bpass+word@") + query


def told_by(error, address):
    """What an error says of an address, its whole traceback searched for secrets."""
    assert str(error).startswith(address)
    shown = "".join(traceback.format_exception(error))
    assert not re.search("canary|pass[+%]|X-Amz", shown), shown
    return str(error)


def outcome(name, server, values):
    """What a read gave, or what was said of it."""
    address = server.address(file_of(name))
    fsspec.filesystem("http").clear_instance_cache()
    try:
        with reader_named(name).open(whispered(address), "main") as opened:
            found = opened.read(SELECTION)
    except OSError as error:
        return told_by(error, address)
    if np.array_equal(found, values[SELECTION]):
        return RIGHT
    return FILLED if not found.any() else "wrong values"


@pytest.mark.parametrize("name", readers(place="http"))
def test_every_reader_says_what_went_wrong(folder, name):
    """The fault befalls the first request of the read; of the open, where that took all."""
    folder, values = folder
    fsspec.filesystem("http").clear_instance_cache()
    with serving(folder) as sound:
        with reader_named(name).open(sound.address(file_of(name)), "main") as opened:
            before = sum(request.method == "GET" for request in sound.requests())
            opened.read(SELECTION)
        after = sum(request.method == "GET" for request in sound.requests())
    first = before if after > before else 0
    told = {}
    for kind, (count, said) in FAULTS.items():
        with faulty(folder, faults=[Fault(kind, first, count)]) as (server, _):
            told[kind] = outcome(name, server, values)
        assert re.search(f"{said}|{RIGHT}|{SILENT}", told[kind]), kind
    # Objects of Zarr are asked for whole; what is not there is a chunk that was never written.
    assert (told["404"] == FILLED) == ("zarr" in name and not name.startswith("virtualizarr"))
    assert told["403"] != RIGHT and told["gone"] != RIGHT
    assert name not in READ_AHEAD or told["short"] == told["whole"] == RIGHT
    assert not any(re.search("truncated|cut off", s) for s in told.values() if SILENT not in s)


@pytest.mark.parametrize("kind", ["403", "gone", "whole", "not there"])
def test_a_fault_while_opening_tells_no_secret(folder, kind):
    """One server for all readers; what it does to one is done to the others too."""
    told = []
    with ExitStack() as held:
        faults = [] if kind == "not there" else [Fault(kind, count=10**6)]
        server, _ = held.enter_context(faulty(folder[0], faults=faults))
        if kind == "not there":
            held.close()
        for name in readers(place="http"):
            fsspec.filesystem("http").clear_instance_cache()
            try:
                reader_named(name).open(whispered(server.address(file_of(name))), "main").close()
            except (OSError, KeyError) as error:
                told.append(told_by(error, server.address(file_of(name))))
    assert len(told) > 2
    if kind == "not there":
        lost = [re.search("onnect|libcurl failure|error sending request", said) for said in told]
        assert all(lost) and len(lost) == len(readers(place="http"))
