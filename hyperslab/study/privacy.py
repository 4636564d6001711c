"""Take paths, host and user names out of what is published."""

from __future__ import annotations

import contextlib
import getpass
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path


def scrubber(root: Path, hide: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """Return a function that takes paths, host and user names out of a text.

    A host or user name that is also a word of the book stays, unless it stands in a path.

    Parameters
    ----------
    root
        The project's folder; paths inside it become relative.
    hide
        Further names to replace, and with what.

    Examples
    --------
    >>> clean = scrubber(Path("/srv/ann/hyperslab"), {"ann-laptop": "host"})
    >>> clean("ann-laptop wrote /srv/ann/hyperslab/build/data/a.nc")
    'host wrote build/data/a.nc'
    """
    paths = {Path(sys.prefix): "python", Path(tempfile.gettempdir()): "tmp", Path.home(): "~"}
    paths |= {Path.cwd(): "", root: ""}
    patterns: list[tuple[re.Pattern[str], str]] = []
    spellings = {str(each): name for path, name in paths.items() for each in (path, path.resolve())}
    for path in sorted(spellings, key=len, reverse=True):
        if len(path) > 1:
            name = spellings[path]
            # The folder itself, and then everything inside it.
            patterns.append((re.compile(re.escape(path) + r"(?![\w.\-/])"), name or "."))
            patterns.append((re.compile(re.escape(path) + "/"), f"{name}/" if name else ""))
    patterns.append((re.compile(r"/(?:home|Users)/[^/\s\"']+"), "~"))
    names = {platform.node(): "host", platform.node().partition(".")[0]: "host"}
    with contextlib.suppress(KeyError, OSError):  # a process may have no user name
        names[getpass.getuser()] = "user"
    words = _own_words(root)
    # "vm" or "pc" name nobody, and stand inside other words' paths.
    names = {name: word for name, word in names.items() if len(name) > 2 and name not in words}
    names |= hide or {}
    for name in sorted(names, key=len, reverse=True):
        patterns.append((re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])"), names[name]))

    def scrub(text: str) -> str:
        for pattern, word in patterns:
            text = pattern.sub(word, text)
        return text

    return scrub


def _own_words(root: Path) -> set[str]:
    files = [*root.glob("book/**/*.md"), *root.glob("book/*.yml"), *root.glob("notebooks/*.ipynb")]
    return {word for file in files for word in re.findall(r"[\w-]+", file.read_text("utf-8"))}
