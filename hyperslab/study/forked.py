"""Kernels of notebooks, forked from a process that has imported what all notebooks import."""

import atexit
import gc
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint
from multiprocessing.context import ForkServerProcess
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from ..measure.parent import alive

_IMPORTED = (
    "ipykernel.kernelapp", "pyarrow.parquet", "seaborn", "scipy.interpolate", "scipy.ndimage",
    "hyperslab.study.page",
)  # fmt: skip
_WORKED_OUT = "hyperslab.study.beforehand"
_MANY = 6  # notebooks, for which that pays

_PATIENCE_S = 2.0  # between two cells a kernel may miss it; the run removes what it leaves
_ended = threading.Event()  # a kernel that a thread is about to start would run its whole notebook


def fork_kernels(notebooks: int) -> None:
    """Have papermill's kernels forked, where a process with these libraries may safely fork."""
    if sys.platform != "linux":
        return
    _ended.clear()
    for mark in Path(tempfile.gettempdir()).glob("pymp-*/hyperslab-*"):
        if not alive(int(mark.name.partition("-")[2])):  # it was ended at once
            shutil.rmtree(mark.parent, ignore_errors=True)
    os.environ.setdefault("IPYTHONDIR", get_temp_dir())
    try:
        Path("~/.config/matplotlib").expanduser().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a home that is none, or read-only
        os.environ.setdefault("MPLCONFIGDIR", get_temp_dir())
    Path(get_temp_dir(), f"hyperslab-{os.getpid()}").touch()
    imported = [*_IMPORTED, *([_WORKED_OUT] if notebooks >= _MANY else [])]
    multiprocessing.get_context("forkserver").set_forkserver_preload(imported)
    factory, name = KernelProvisionerFactory.instance(), "hyperslab-forked"
    factory.provisioners[name] = EntryPoint(name, f"{__name__}:Forked", factory.GROUP_NAME)
    factory.default_provisioner_name = name


class Kernel(ForkServerProcess):
    """A forked kernel, with what `subprocess.Popen` has and Jupyter asks for."""

    stdin = stdout = stderr = None

    def __init__(self, words: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
        super().__init__()
        self._given = (list(words), cwd, dict(env))

    def run(self) -> None:
        """Become the kernel; it ends with the process that asked for it, however that ends."""
        import matplotlib
        from ipykernel.kernelapp import IPKernelApp
        from tqdm import tqdm

        gc.freeze()  # what was imported is for good
        words, cwd, env = self._given
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        # As where matplotlib is imported in a kernel; it looked for the variable on import.
        matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"
        tqdm.set_lock(threading.RLock())  # its own has a semaphore, left where a kernel is killed
        threading.Thread(target=_end_with_parent, daemon=True).start()
        try:
            IPKernelApp.launch_instance(argv=words[words.index("-f") :])
        finally:  # a forked process ends without them
            atexit._run_exitfuncs()

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid or 0, number)


class Forked(LocalProvisioner):
    """Starts kernels of Python by `Kernel`, and others as Jupyter does."""

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Have the file that says how it is connected where it goes with this process."""
        manager: Any = self.parent
        manager.connection_file = str(Path(get_temp_dir(), f"{self.kernel_id}.json"))
        return await super().pre_launch(**kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        if "ipykernel_launcher" not in cmd:
            return await super().launch_kernel(cmd, **kwargs)
        self.cwd = kwargs.get("cwd") or Path.cwd()
        kernel = Kernel(cmd, str(self.cwd), kwargs["env"])
        kernel.start()
        if _ended.is_set():
            kernel.kill()  # it would ignore what the run ignores by now
            raise RuntimeError("the run was ended")
        self.process: Any = kernel
        self.pid = self.pgid = kernel.pid
        return self.connection_info


def end_kernels() -> None:
    """End what kernels do, at once where they do not stop: threads that talk with them see it."""
    _ended.set()
    kernels = [each for each in multiprocessing.active_children() if isinstance(each, Kernel)]
    for kernel in kernels:
        kernel.send_signal(signal.SIGINT)  # as Ctrl-C: it removes what is temporary
    for kernel in kernels:
        kernel.join(_PATIENCE_S)
        kernel.kill()
        kernel.join()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
    shutil.rmtree(get_temp_dir(), ignore_errors=True)
    os._exit(1)
