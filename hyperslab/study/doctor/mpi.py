"""What writes in parallel here, each tried with a small job of its launcher."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from hyperslab import parallel

from .finding import Finding
from .host import existing

RANKS = 2
_CLAIMS = "of the chapter on parallel writing (claims chilan-*)"


def mpi(
    found: parallel.Found | None = None,
    work: Path = Path("build"),
    start: Callable[[parallel.Program, Path, int], int] = parallel.came_up,
) -> Finding:
    """Look for what writes in parallel, compile its programs, and start a job of two ranks of each.

    Examples
    --------
    >>> mpi(parallel.Found({}, {"pnetcdf": "no MPI compiler (mpicc)"})).text
    'pnetcdf: no MPI compiler (mpicc): its rows are left out of the chapter on parallel writing ...'
    """
    found = found or parallel.find()
    here, broken, failed = [], [], []
    for name, program in found.programs.items():
        try:
            with tempfile.TemporaryDirectory(dir=existing(work), prefix=".doctor-") as folder:
                up = start(program, Path(folder), RANKS)
        except parallel.ParallelError as error:
            broken.append(f"{name}: {error}")
            failed.append(name)
        except ModuleNotFoundError as error:
            here.append(f"{name} (not tried: {error.name} is not installed)")
        except OSError:
            here.append(f"{name} (not tried: the work directory cannot be written)")
        else:
            here.append(f"{name} ({program.launcher.name}: {up} of {RANKS} ranks came up)")
    if broken:
        others = f"; {', '.join(here)} can write in parallel" if here else ""
        hidden = ",".join(failed)
        return Finding(
            "MPI",
            "problem",
            f"a job of {RANKS} ranks fails: {'; '.join(broken)}{others}",
            f"mend that, or leave it out: export HYPERSLAB_MPI_HIDDEN={hidden}",
        )
    if not found.missing:
        return Finding("MPI", "ok", f"{', '.join(here)} can write in parallel")
    why = "; ".join(f"{name}: {reason}" for name, reason in found.missing.items())
    rows = "its rows are" if len(found.missing) == 1 else "their rows are"
    others = f"; {', '.join(here)} can write in parallel" if here else ""
    return Finding(
        "MPI", "note", f"{why}: {rows} left out {_CLAIMS}{others}", found.what_to_install()
    )
