"""Import this to have the C kernel loaded: a server of processes does so once, before it forks.

Without it every forked sample asks the compiler for its version and loads the kernel anew. Where
there is no kernel nothing happens here; the sample that needs it says why.
"""

from contextlib import suppress

from .build import KernelError, kernel

with suppress(KernelError):
    kernel()
