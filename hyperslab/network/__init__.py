"""Slow links and servers on loopback, and what readers move over them."""

from hyperslab.network.endpoint import Endpoint
from hyperslab.network.helper import HelperError
from hyperslab.network.link import Line, Link, Traffic
from hyperslab.network.request import Request
from hyperslab.network.server import Fault, Server, serving
from hyperslab.network.upload import upload
from hyperslab.network.wire import Wire, touched

__all__ = [
    "Endpoint",
    "Fault",
    "HelperError",
    "Line",
    "Link",
    "Request",
    "Server",
    "Traffic",
    "Wire",
    "serving",
    "touched",
    "upload",
]
