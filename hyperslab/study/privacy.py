"""Take paths, host and user names out of what is published."""

from __future__ import annotations

import contextlib
import getpass
import platform
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def scrubber(root: Path) -> Callable[[str], str]:
    """Return a function that takes paths, host and user names out of a text."""
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
    # "vm" or "pc" name nobody, and stand inside other words' paths; the book's words stay.
    names = {name: word for name, word in names.items() if len(name) > 2 and name not in words}
    for name in sorted(names, key=len, reverse=True):
        patterns.append((re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])"), names[name]))

    def scrub(text: str) -> str:
        for pattern, word in patterns:
            text = pattern.sub(word, text)
        return text

    return scrub


def revealed(text: str) -> str:
    """Return the first thing in a text that must not be published, with what it is, or ""."""
    for what, pattern in _REVEALING:
        if match := pattern.search(text):
            return f"{what}, {match.group()[:_SHOWN]!r}"
    return ""


_SHOWN = 60  # characters of what was found
# Names that runs give to their own servers; they lead nowhere.
_OWN_SERVERS = r"(?:server|bucket|localhost|127\.0\.0\.1|\[::1\])(?![\w.-])"
_REVEALING = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        (
            "a credential",
            r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|-----BEGIN\b|X-Amz-(?:Signature|Credential)"
            r"|\b[\w-]*(?:secret|password|passwd|token|access_key|authorization)[\w-]*\s*[=:]\s*\S+"
            r"|\bbearer\s+\S{8,}",
        ),
        ("an address", rf"\b(?:https?|s3|gs|gcs|abfss?|ftp|ssh)://(?!{_OWN_SERVERS})[^\s'\"]+"),
        (
            "a host",
            r"(?<![\w./@-])[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+\.(?:com|org|net|edu|gov|mil|lan"
            r"|internal|at|au|be|br|ca|ch|cn|cz|de|dk|es|eu|fi|fr|gr|ie|it|jp|kr|nl|no|nz|pl|pt|se|uk"
            r"|us)(?![\w.-])",
        ),
        ("an address", r"(?<![\w.])(?!127\.)\d{2,3}(?:\.\d{1,3}){3}(?![\w.])"),
        ("a user or an address", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*"),
        (
            "a folder of a machine",
            r"(?<![\w.:/])/(?:home|Users|root|tmp|var|mnt|media|srv|scratch|work|lustre|gpfs|nfs"
            r"|opt|private|Volumes)(?:/[^\s'\"]*)?(?![\w])|(?<!\w)[A-Z]:\\[^\s'\"]*",
        ),
    )
)


def _own_words(root: Path) -> set[str]:
    files = [*root.glob("book/**/*.md"), *root.glob("book/*.yml"), *root.glob("notebooks/*.ipynb")]
    return {word for file in files for word in re.findall(r"[\w-]+", file.read_text("utf-8"))}
