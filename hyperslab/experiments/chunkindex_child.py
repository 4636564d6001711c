"""What runs in the environment of the published package chunkindex; needs nothing else of ours."""

import importlib
import json
import os
from contextlib import ExitStack
from typing import Any

import numpy as np

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.memory import touch, wanted_bytes


def main(line: str) -> None:
    """Do what a line of JSON asks for: build an index, or read through one and print the phases."""
    job = json.loads(line)
    package = importlib.import_module("chunkindex")
    if "selection" in job:
        print(json.dumps(_read(package, job)))
    else:
        package.create_index(job["index"], job["data"])


def _read(package: Any, job: dict[str, Any]) -> list[dict[str, object]]:
    addresses, opener = (job["data"], job["index"]), open
    if "://" in job["data"]:
        importlib.import_module("aiohttp")
        opener = importlib.import_module("fsspec").open
    box = tuple(slice(*ends) for ends in job["selection"])
    if hasattr(os, "sched_setaffinity"):  # as the samples of all other readers are
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    touch(wanted_bytes((), job.get("memory_bytes", 0)))
    watch = Stopwatch()
    with ExitStack() as held:
        with watch("open"):
            data, index = (held.enter_context(opener(address, "rb")) for address in addresses)
        with watch("read"):
            values = package.read_slice(data, index, job["variable"], box)
        watch.note(useful_bytes=values.nbytes)
        with watch("close"):
            held.close()
    np.save(job["target"], np.ma.getdata(values))  # under a mask it is what is stored
    return watch.rows()
