"""Workers of dask: started here for a while, or those of a scheduler that is named."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

TIMEOUT_S = 10


@dataclass(frozen=True)
class Workers:
    """A scheduler of dask, and the workers it has.

    Parameters
    ----------
    scheduler : str
        Its address.
    addresses : tuple of str
        Of its workers.
    """

    scheduler: str = ""
    addresses: tuple[str, ...] = ()


@contextmanager
def offered(
    scheduler: str, count: int, modules: Sequence[str] = (), *, drawing: bool = False
) -> Iterator[Workers]:
    """Have workers, of one thread each, for as long as the body runs.

    Parameters
    ----------
    scheduler : str
        Address of a scheduler that runs already; empty to start workers on this machine, bound to
        the loopback interface.
    count : int
        Workers to start.
    modules : sequence of str
        What they import beforehand.
    drawing : bool
        Whether records are drawn from, and nobody needs workers.

    Raises
    ------
    OSError
        When no scheduler answers, or it has no workers.
    """
    if drawing:
        yield Workers()
        return
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if not scheduler:
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=count,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            )
            scheduler = stack.enter_context(cluster).scheduler_address
        try:
            # Not dask's own choice: one that could not start would be it all the same, for good.
            client = Client(  # type: ignore[no-untyped-call]
                scheduler, timeout=TIMEOUT_S, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise OSError(
                f"no dask scheduler answers at {scheduler!r} within {TIMEOUT_S} s: start one with "
                "`dask scheduler`, or leave the parameter scheduler empty for workers on this "
                "machine"
            ) from error
        with client:
            addresses = tuple(sorted(client.nthreads()))  # type: ignore[no-untyped-call]
            client.run(_import, list(modules))
        if not addresses:
            raise OSError(
                f"the dask scheduler at {scheduler!r} has no workers: start some with "
                f"`dask worker {scheduler}`"
            )
        yield Workers(scheduler, addresses)


def _import(modules: list[str]) -> None:
    for name in modules:
        importlib.import_module(name)
