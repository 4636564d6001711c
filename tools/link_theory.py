"""Hold the slow link against theory: `sh tools/python.sh tools/link_theory.py [TRIES]`.

Plain sockets ask for so many bytes over both links that Penard et al. (2025) and this study speak
of, on connections that are made for it and on such as were kept. The least time of a few tries is
set beside `Link.seconds`: of three, and of short ones of as many as take two seconds. Exits with 1
where one is off by more than 3 %, up or down. It takes about two minutes. Whatever else the machine
does makes it slower, so no test asserts any of it.
"""

import math
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from hyperslab.network import Link

LINKS = {
    "100 kB/s and 100 ms": Link(100e3, 0.1),
    "100 Mbit/s and 20 ms": Link(12.5e6, 0.02),
}
REQUESTS = {"1 B": (1, 1), "50 kB": (50_000, 1), "500 kB": (500_000, 1), "8 × 50 kB": (50_000, 8)}
"""Bytes of each answer, and how many are asked for at once."""
WITHIN = 0.03
TRIES = 3
SPENT_S = 2.0
"""At least, on the tries of a row: short ones are disturbed more."""
_SIZE = struct.Struct("!Q")


@contextmanager
def answering() -> Iterator[int]:
    """Answer each request of eight bytes, a number, with as many bytes; give the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server,), daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)  # which ends the wait for connections


def _accept(server: socket.socket) -> None:
    while True:
        try:
            client = server.accept()[0]
        except OSError:
            return
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=_answer, args=(client,), daemon=True).start()


def _answer(client: socket.socket) -> None:
    with client:
        while head := client.recv(_SIZE.size, socket.MSG_WAITALL):
            client.sendall(bytes(_SIZE.unpack(head)[0]))


def get(client: socket.socket, size: int) -> None:
    """Ask for so many bytes and take them all."""
    client.sendall(_SIZE.pack(size))
    while size:
        got = len(client.recv(min(size, 2**18)))
        if not got:
            raise OSError(f"the connection ended {size} bytes too early")
        size -= got


def took_s(port: int, size: int, count: int, *, new: bool) -> float:
    """Return how long a number of requests take that are made at once, in seconds."""
    with ExitStack() as held:

        def connected() -> socket.socket:
            return held.enter_context(socket.create_connection(("127.0.0.1", port)))

        def fresh() -> None:
            get(connected(), size)

        connections = [] if new else [connected() for _ in range(count)]
        for client in connections:
            get(client, 1)
        work = [partial(get, client, size) for client in connections] or [fresh] * count
        threads = [threading.Thread(target=each) for each in work]
        began_s = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began_s


def main(tries: int = TRIES) -> int:
    """Print the table; return 1 where something is off, else 0."""
    wrong = 0
    print(f"{'link':21}{'asked for':11}{'connection':12}{'theory':>10}{'measured':>11}{'off':>8}")
    with answering() as port:
        for words, link in LINKS.items():
            with link.to(port) as far:
                for request, (size, count) in REQUESTS.items():
                    for new in (True, False):
                        theory_s = link.seconds(stages=1, connections=int(new), size=size * count)
                        times = max(tries, math.ceil(SPENT_S / theory_s))
                        least_s = min(took_s(far, size, count, new=new) for _ in range(times))
                        off = least_s / theory_s - 1
                        wrong += abs(off) > WITHIN
                        print(
                            f"{words:21}{request:11}{'new' if new else 'kept':12}"
                            f"{1e3 * theory_s:7.1f} ms{1e3 * least_s:8.1f} ms{100 * off:+7.1f} %",
                            flush=True,
                        )
    limit = f"{100 * WITHIN:g} %"
    print(f"{wrong} off by more than {limit}" if wrong else f"all within {limit}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
