"""Slow links and servers on loopback, and what readers move over them."""

from hyperslab.network.endpoint import Endpoint, upload
from hyperslab.network.helper import HelperError
from hyperslab.network.link import Link
from hyperslab.network.server import Server, serving
from hyperslab.network.wire import Request, Wire, touched

__all__ = [
    "Endpoint", "HelperError", "Link", "Request", "Server", "Wire", "serving", "touched",
    "upload",
]  # fmt: skip
