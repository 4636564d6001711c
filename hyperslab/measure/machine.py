"""Facts of this machine, without a name, a path or a person in them."""

import hashlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

PACKAGES = (
    "numpy", "h5py", "netCDF4", "h5netcdf", "xarray", "zarr", "numcodecs", "dask", "distributed",
    "pandas", "fsspec", "aiohttp", "s3fs", "aiobotocore", "obstore", "kerchunk", "virtualizarr",
    "hidefix", "isal", "pyfive", "hyperslab",
)  # fmt: skip
# What records call a library, where it is not the name of the package that brings it.
_LIBRARIES = {
    "Python": "python",
    "chunkindex": "hyperslab",  # whose reader stands in for the package
    "hyperslab.subchunk": "hyperslab",
    "netCDF-C": "netcdf-c",
    "netcdf4": "netCDF4",
    "netcdf4-python": "netCDF4",
    "subchunk": "hyperslab",
}
_REPORTING = 5  # VIRTIO_BALLOON_F_REPORTING


def identity() -> dict[str, object]:
    """Return what makes two machines the same for comparing times."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gib": round(memory_bytes() / 2**30),
        "system": platform.system(),
        "architecture": platform.machine(),
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages and C libraries that are measured."""
    installed = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    if "netCDF4" in installed:
        import netCDF4

        installed["netcdf-c"] = str(netCDF4.__netcdf4libversion__)
        installed["hdf5 (netCDF4)"] = str(netCDF4.__hdf5libversion__)
    if "h5py" in installed:
        import h5py

        installed["hdf5 (h5py)"] = str(h5py.version.hdf5_version)
    return installed


def library_version(library: str, versions: Mapping[str, str]) -> str:
    """Return the version of what a record calls its library; "" where `versions` has none."""
    return versions.get(_LIBRARIES.get(library, library), "")


def facts(folder: Path, **more: object) -> dict[str, object]:
    """Return all facts of this machine, as kept in machine.json."""
    return {
        "identity": identity(),
        "versions": versions(),
        # The release may carry the name of a build host after its numbers.
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "file_system": file_system(folder),
        "read_ahead_kib": read_ahead_kib(folder),
        "memory_bytes": memory_bytes(),
        "memory_limit_bytes": memory_limit_bytes(),
        "host_takes_freed_memory": host_takes_freed_memory(),
        "git_revision": git_revision(),
        "lock_sha256": lock_hash(),
        **more,
    }


def cores() -> int:
    """Return how many cores this process may use; all where the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_model() -> str:
    """Return the processor's name."""
    try:
        match = re.search(r"^model name\s*:(.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        return platform.processor() or platform.machine()
    return match[1].strip() if match else platform.machine()


def memory_bytes() -> int:
    """Return the memory of the machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_limit_bytes(
    membership: Path = Path("/proc/self/cgroup"), mounted: Path = Path("/sys/fs/cgroup")
) -> int:
    """Return the memory that control groups leave this process, page cache and all, in bytes."""
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return memory_bytes()
    limits = [memory_bytes()]
    for _, controllers, path in lines:
        if controllers and "memory" not in controllers.split(","):
            continue
        top = mounted / "memory" if controllers else mounted
        name = "memory.limit_in_bytes" if controllers else "memory.max"
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            value = folder / name
            if value.is_file() and (text := value.read_text().strip()).isdigit():
                limits.append(int(text))
            if folder == top:
                break
    return min(limits)


def file_system(folder: Path) -> str:
    """Return the type of the file system a folder lies on; "" where it is unknown."""
    try:
        table = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return ""
    path = _existing(folder)
    inside = [row for row in table if path.is_relative_to(row[1])]
    return max(inside, key=lambda row: len(row[1]))[2] if inside else ""


def read_ahead_kib(folder: Path) -> int | None:
    """Return the read-ahead, in KiB, of the device below a folder; None where it is unknown."""
    device = _existing(folder).stat().st_dev
    block = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    for directory in (block, block.parent):
        with suppress(OSError):
            return int((directory / "queue/read_ahead_kb").read_text())
    return None


def require_space(folder: Path, needed: int) -> None:
    """Raise an error unless a folder's disk has room."""
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(
            f"{needed / 2**20:,.0f} MiB are needed in the work directory, for {folder}, and "
            f"{free / 2**20:,.0f} MiB are free there: make room, or choose another with --workdir"
        )


def host_takes_freed_memory(devices: Path = Path("/sys/bus/virtio/devices")) -> bool:
    """Return whether the host takes back freed memory of a virtual machine: reads wait for it."""
    for features in devices.glob("*/features"):
        driver = features.with_name("driver")
        if driver.is_symlink() and driver.resolve().name == "virtio_balloon":
            return features.read_text()[_REPORTING : _REPORTING + 1] == "1"
    return False


def git_revision() -> str:
    """Return the revision of the code, with "+" where it was changed; "" outside a checkout."""
    here = Path(__file__).parent
    try:
        head = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            cwd=here, capture_output=True, text=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return head.stdout.strip() if head.returncode == 0 else ""


def lock_hash() -> str:
    """Return the hash of the locked requirements; "" where they are not beside the library."""
    lock = Path(__file__).parents[2] / "requirements.lock"
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.exists() else ""


def _existing(folder: Path) -> Path:
    folder = folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return folder
