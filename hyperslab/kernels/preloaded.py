"""Import this to have the C kernel loaded: a server of processes does so once, before it forks."""

from contextlib import suppress

from .kernel_build import KernelError, kernel

# Without a kernel the sample that needs it says why.
with suppress(KernelError):
    kernel()
