"""What a server did for its clients: one line of its log for each request."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """A request that was answered.

    Parameters
    ----------
    method : str
        "GET" or "HEAD".
    path : str
        What was asked for, decoded, with a leading slash and without the query.
    start, stop : int
        The half-open range of the file's bytes that was asked for; 0 and 0 where there is none to
        send.
    status : int
        Of the answer: 200, 206, 404 …
    body_bytes : int
        Bytes of the body that were sent.
    connection : int
        Number of the connection, counted from 0 since the server began.
    nth : int
        Number of the request on its connection, counted from 0: 0 paid for the handshake.
    began_s, ended_s : float
        When the server had the request and when it had handed on the answer, in seconds of a
        clock of its own.
    """

    method: str
    path: str
    start: int
    stop: int
    status: int
    body_bytes: int
    connection: int
    nth: int
    began_s: float
    ended_s: float
