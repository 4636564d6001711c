"""Every reader of URLs over servers on loopback, HTTP and S3, and with every fault of a server."""

import re
import traceback
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import fsspec
import numpy as np
import pytest
from contracts.readers import ReaderContract, Truth, assert_same
from forked_servers import forking
from range_server import Fault, faulty
from test_io_readers_contract import known_gaps, make
from zarr.core.sync import sync

from hyperslab import subchunk
from hyperslab.io import Layout, readers, references, write_array
from hyperslab.io import chunkindex_format as chunkindex
from hyperslab.io import reader as reader_named
from hyperslab.io.urls import Remote, system_in_zarr
from hyperslab.network import serving

forked = pytest.fixture(scope="module", autouse=True)(forking)
CHUNKS = (4, 6, 7)  # few, as some readers make several requests for each
LAYOUTS = {
    "netcdf3": Layout("netcdf3"),
    "netcdf4-deflate": Layout("netcdf4", CHUNKS, "deflate", 1, shuffle=True),
    "hdf5-paged": Layout("hdf5", CHUNKS, "deflate", shuffle=True, page_bytes=4096),
    "zarr2-blosc": Layout("zarr2", CHUNKS, "blosc-lz4", shuffle=True),
    "zarr3-shards": Layout("zarr3", CHUNKS, "zstd", shards=(4, 12, 7)),
    "nczarr-zstd": Layout("nczarr", CHUNKS, "zstd"),
}
SECRET = "a-canary-that-nobody-may-see"


def pairs(place):
    """Each layout with its readers; only one reads in pages, HTTP lists nothing, pyfive no gaps."""
    for name, layout in LAYOUTS.items():
        for reader in readers(layout, place=place):
            unlisted = (place, reader) == ("http", "xarray-zarr") and name != "zarr2-blosc"
            paged = (name == "hdf5-paged") == (reader == "h5py-paged")
            if paged and not unlisted and reader != "pyfive":
                yield name, reader, place


def far(reader, options):
    """A reader told what it needs beside addresses."""
    same = {name: getattr(reader, name) for name in ("name", "library", "formats")}
    return SimpleNamespace(**same, open=partial(reader.open, storage_options=options))


class Address(str):
    """The address of a folder, which takes / as a path does."""

    def __truediv__(self, name):
        return Address(f"{self}/{name}")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The files, what lies beside them, and what is in them."""
    folder = tmp_path_factory.mktemp("served")
    values = {}
    for name, layout in LAYOUTS.items():
        path = folder / f"{name}{layout.suffix}"
        values[name] = make(path, layout, ["i2"])
        if path.is_file() and name != "netcdf3":
            subchunk.build(path, spacing=1024)
            chunkindex.write(path, f"{path}.chunkindex")
            references.write(path)
    (folder / "text.nc").write_text("This is no data.\n" * 1000)
    return folder, values


@pytest.fixture(scope="session")
def servers(folder):
    """The folder, served both ways."""
    never = [Fault("403", count=10**6)]
    with (
        serving(folder[0]) as http,
        serving(folder[0], "s3") as s3,
        faulty(folder[0], "s3", never) as (denying, _),
    ):
        yield {"http": http, "s3": s3, "denying": denying}
        fsspec.filesystem("http").clear_instance_cache()


@pytest.fixture(scope="session")
def pair(request):
    return request.param


@pytest.fixture(scope="session")
def reader(pair, servers):
    return far(reader_named(pair[1]), servers[pair[2]].storage_options)


@pytest.fixture(scope="session")
def truth(pair, servers, folder):
    name, reader, place = pair
    few = ["main", "i2", "group/inner/deep"]
    if reader == "virtualizarr-kerchunk":
        # It knows no groups in references, and takes an array to end with its last written chunk.
        few = ["grown", "i2"]
    values = {name: array for name, array in folder[1][name].items() if name in few}
    top = Address(servers[place].url)
    served = Truth(top / f"{name}{LAYOUTS[name].suffix}", values, few[0], top)
    return known_gaps(reader, LAYOUTS[name].format, served)


# Those that differ in what fetches alone are held to less.
ALIKE = ("h5py", "h5py-64k", "h5py-blocks", "subchunk-obstore", "chunkindex_layout-none",
         "xarray-netcdf4", "virtualizarr-kerchunk")  # fmt: skip
WHOLE = ("netcdf4-deflate", "hdf5-paged", "zarr2-blosc")
FULL = [pair for pair in pairs("http") if pair[0] in WHOLE and pair[1] not in ALIKE]
REST = [pair for pair in pairs("http") if pair not in FULL]
REST += [pair for pair in pairs("s3") if pair[0] in WHOLE]


@pytest.mark.parametrize("pair", FULL, indirect=True, scope="session", ids="-by-".join)
class TestHttp(ReaderContract):
    """The whole contract, with fewer selections, a layout for each reader."""

    def test_selections_are_numpys(self, reader, truth):
        values = truth.values["main"]
        with reader.open(truth.path, "main") as opened:
            for selection in ((slice(None), 4, 7), (2, slice(1, 9, 3)), (..., slice(12, 2, 4)), -1):
                assert_same(opened.read(selection), np.asarray(values[selection]))

    def test_what_is_not_there_is_named(self, reader, truth):
        """In the library's words alone: the server is not asked for the names."""
        refused(reader, truth)


def refused(reader, truth):
    """Nothing there, no data, no such variable: each is named with what the reader takes."""
    for path, variable in (
        (truth.empty / "absent.nc", "main"),
        (truth.empty / "text.nc", "main"),
        (truth.path, "unknown"),
    ):
        with pytest.raises((KeyError, OSError)) as caught:
            reader.open(path, variable)
        message = caught.value.args[0]
        assert message.startswith(f"{path} cannot be read by {reader.name}: ")
        assert all(format in message for format in reader.formats)


@pytest.mark.parametrize("pair", REST, indirect=True, scope="session", ids="-by-".join)
def test_other_layouts_and_s3(reader, truth, pair, servers):
    """What may differ there: values, absent things, and that no secret is told."""
    alike = pair[1] in ALIKE or pair[2] == "s3"  # the other variables are read as over HTTP
    for name in (truth.main,) if alike else truth.values:
        with reader.open(truth.path, name) as opened:
            assert_same(opened.read(), truth.values[name])
    refused(reader, truth)
    if pair[2] == "s3":
        wrong = servers["denying"].storage_options | {"key": SECRET, "secret": SECRET}
        with pytest.raises(OSError) as caught:
            far(reader_named(pair[1]), wrong).open(truth.path, "main")
        assert str(truth.path) in str(caught.value)
        shown = "".join(traceback.format_exception(caught.value))
        assert not any(word in shown for word in (SECRET, servers["s3"].storage_options["key"]))


@pytest.mark.parametrize("place", ["http", "s3"])
def test_what_was_closed_connects_to_nobody_again(servers, place):
    """Else a request that goes on where another failed leaves a client that nobody closes."""
    far = Remote(f"{servers[place].url}/text.nc", servers[place].storage_options)
    system, path, close = system_in_zarr(far)
    assert sync(system._cat_file(path)).startswith(b"This is no data.")
    close()
    with pytest.raises(OSError, match="was closed"):
        sync(system._cat_file(path))


ROWS = (1, 200, 300)
PLAIN = {
    "netcdf4": Layout("netcdf4", ROWS, "deflate", 4, shuffle=True),
    "hdf5": Layout("hdf5", ROWS, "deflate", 4, shuffle=True, page_bytes=65536),
    "zarr2": Layout("zarr2", ROWS, "blosc-lz4", shuffle=True),
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


@pytest.fixture(scope="module")
def plain_files(tmp_path_factory):
    """The files with what lies beside them, and what is in them."""
    folder = tmp_path_factory.mktemp("served")
    random = np.random.default_rng(1)
    values = np.cumsum(random.normal(size=(3, 200, 300)), axis=2).astype("f4")
    for name, layout in PLAIN.items():
        write_array(folder / f"{name}{layout.suffix}", values, layout, "main")
    file = folder / "netcdf4.nc"
    subchunk.build(file, spacing=16384)
    chunkindex.write(file, f"{file}.chunkindex")
    references.write(file)
    yield folder, values
    fsspec.filesystem("http").clear_instance_cache()


@pytest.fixture
def impatient(monkeypatch):
    """obstore and xarray ask again, and wait longer each time, for a minute in all."""
    monkeypatch.setattr("xarray.backends.common.time.sleep", lambda _: None)
    original = Remote.obstore
    moment, limit = timedelta(milliseconds=10), timedelta(seconds=5)
    backoff = {"init_backoff": moment, "max_backoff": moment, "base": 2}
    few = {"retry_config": {"max_retries": 2, "backoff": backoff, "retry_timeout": limit}}
    monkeypatch.setattr(Remote, "obstore", lambda self: original(self) | few)


def file_of(name):
    """A file that a reader reads."""
    layout = "hdf5" if name == "h5py-paged" else "netcdf4"
    layout = layout if layout in reader_named(name).formats else "zarr2"
    return f"{layout}{PLAIN[layout].suffix}"


def whispered(address):
    """An address with what nobody may see; of a store, which has no query, a user and password."""
    query = "" if address.endswith(".zarr") else "?token=canary-query&X-Amz-Signature=canary"
    return address.replace("//", "//canary-user:canary%2Bpass+word@") + query


def message_of(error, address):
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
            array = opened.read(SELECTION)
    except OSError as error:
        return message_of(error, address)
    if np.array_equal(array, values[SELECTION]):
        return RIGHT
    return FILLED if not array.any() else "wrong values"


@pytest.mark.parametrize("name", readers(place="http"))
def test_every_reader_says_what_went_wrong(plain_files, impatient, name):
    """The fault befalls the first request of the read; of the open, where that took all."""
    folder, values = plain_files
    fsspec.filesystem("http").clear_instance_cache()
    with serving(folder) as sound:
        with reader_named(name).open(sound.address(file_of(name)), "main") as opened:
            before = sum(request.method == "GET" for request in sound.requests())
            opened.read(SELECTION)
        after = sum(request.method == "GET" for request in sound.requests())
    first = before if after > before else 0
    outcomes = {}
    for kind, (count, pattern) in FAULTS.items():
        with faulty(folder, faults=[Fault(kind, first, count)]) as (server, _):
            outcomes[kind] = outcome(name, server, values)
        assert re.search(f"{pattern}|{RIGHT}|{SILENT}", outcomes[kind]), kind
    # Objects of Zarr are asked for whole; what is not there is a chunk that was never written.
    assert (outcomes["404"] == FILLED) == ("zarr" in name and not name.startswith("virtualizarr"))
    assert outcomes["403"] != RIGHT and outcomes["gone"] != RIGHT
    assert name not in READ_AHEAD or outcomes["short"] == outcomes["whole"] == RIGHT
    assert not any(re.search("truncated|cut off", s) for s in outcomes.values() if SILENT not in s)


@pytest.mark.parametrize("kind", ["403", "gone", "whole", "not there"])
def test_a_fault_while_opening_tells_no_secret(plain_files, impatient, kind):
    """One server for all readers; what it does to one is done to the others too."""
    messages = []
    with ExitStack() as held:
        faults = [] if kind == "not there" else [Fault(kind, count=10**6)]
        server, _ = held.enter_context(faulty(plain_files[0], faults=faults))
        if kind == "not there":
            held.close()
        for name in readers(place="http"):
            fsspec.filesystem("http").clear_instance_cache()
            try:
                reader_named(name).open(whispered(server.address(file_of(name))), "main").close()
            except (OSError, KeyError) as error:
                messages.append(message_of(error, server.address(file_of(name))))
    assert len(messages) > 2
    if kind == "not there":
        lost = [re.search("onnect|libcurl failure|error sending request", s) for s in messages]
        assert all(lost) and len(lost) == len(readers(place="http"))
