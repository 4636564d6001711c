"""The process that is a slow link: passes bytes on at a rate and after a delay."""

import asyncio
import contextlib
import socket
import time

from hyperslab.network.helper import Seat

# What may wait in the queue: else the time that a sleep oversleeps costs some of the rate.
AHEAD_S = 0.04
# Of one turn of a connection: a packet, or as much as goes over the link in a millisecond.
PACKET_BYTES, TURN_S = 1448, 0.001
BUFFER_BYTES = 1 << 14
# A sleep below this is not worth it.
SHORT_S = 0.0005
# What passing on and waking up cost by themselves, each way: it is taken off the delay, but no
# more than a quarter of it.
OWN_S = 0.0005
EXACT = True
"""Its timers must be true to microseconds."""


class Way:
    """One direction of the link, which all connections share; None is a rate without limit."""

    def __init__(self, bytes_per_s: float | None, delay_s: float) -> None:
        self._rate = bytes_per_s
        self.delay_s = delay_s
        self.early_s = min(OWN_S, delay_s / 4)
        self._free_s = 0.0
        self._turn = asyncio.Lock()  # first come, first served
        self.turn_bytes = 1 << 16
        if bytes_per_s:
            self.turn_bytes = min(self.turn_bytes, max(PACKET_BYTES, int(bytes_per_s * TURN_S)))

    async def pass_on(self, size: int) -> float:
        """Wait until so many bytes may go, and return when they arrive at the other end."""
        async with self._turn:
            now = time.monotonic()
            self._free_s = max(now, self._free_s) + (size / self._rate if self._rate else 0.0)
            wait_s = self._free_s - AHEAD_S - now
            if wait_s > SHORT_S:
                await asyncio.sleep(wait_s)
            return self._free_s + self.delay_s


async def main(seat: Seat) -> None:
    """Pass the bytes of some 500 connections on both ways, to a server, until told to stop."""
    rate, round_trip_s = seat.facts["bytes_per_s"], seat.facts["round_trip_s"]
    up, down = Way(rate, round_trip_s / 2), Way(rate, round_trip_s / 2)

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        shaken_s = time.monotonic() + round_trip_s  # when the handshake is done
        try:
            far = await asyncio.open_connection("127.0.0.1", seat.facts["port"], limit=BUFFER_BYTES)
        except OSError:  # the server is gone: so is the connection
            writer.transport.abort()
            return
        for each in (writer, far[1]):
            each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writer.transport.set_write_buffer_limits(high=BUFFER_BYTES)
        try:
            await asyncio.gather(
                _pump(up, reader, far[1], shaken_s), _pump(down, far[0], writer, 0.0)
            )
        except ConnectionError:  # what broke at one end breaks at the other
            writer.transport.abort()
            far[1].transport.abort()
        finally:
            writer.close()
            far[1].close()

    server = await asyncio.start_server(take, "127.0.0.1", 0, limit=BUFFER_BYTES)
    await seat.answer(server.sockets[0].getsockname()[1])


async def _pump(
    way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, from_s: float
) -> None:
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def read() -> None:
        # What is sent meanwhile waits in the socket.
        await asyncio.sleep(max(0.0, from_s - way.early_s - time.monotonic()))
        try:
            while data := await reader.read(way.turn_bytes):
                queue.put_nowait((await way.pass_on(len(data)), data))
        finally:
            queue.put_nowait((time.monotonic() + way.delay_s, b""))

    async def deliver() -> None:
        while True:
            arrives_s, data = await queue.get()
            wait_s = arrives_s - way.early_s - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            if not data:
                break
            writer.write(data)
            await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.write_eof()

    await asyncio.gather(read(), deliver())
