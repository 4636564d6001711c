"""Gather what was run into one folder and render it as a book."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import yaml

from .. import claims
from . import provenance
from .pages import clean, placeholder
from .privacy import scrubber
from .profile import locked, put_in_place

RENDERERS = ("jupyter-book", "sphinx", "myst-nb", "sphinx-book-theme", "sphinxcontrib-bibtex")
_SKIPPED = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", ".DS_Store")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_TROUBLE = re.compile(r"\b(WARNING|ERROR|CRITICAL)\b|Error:|^Exception")


class RenderError(RuntimeError):
    """The book could not be rendered; the message names the pages and the log."""


def listed(root: Path) -> dict[str, str]:
    """Return the notebooks that ``_toc.yml`` lists, in its order, each with the caption above."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return {
        Path(page["file"]).name: part.get("caption", "")
        for part in toc.get("parts", [toc])
        for page in part["chapters"]
        if page["file"].startswith("notebooks/")
    }


def stage(
    executed: Path, results: Path, out: Path, *, records: Path | None = None, root: Path
) -> list[str]:
    """Gather what is rendered: prose, executed notebooks, figures; return which were not run."""
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    scrub = scrubber(root)
    missing = []
    with (
        locked(out.parent, "book"),
        tempfile.TemporaryDirectory(dir=out.parent, prefix=".stage-") as tmp,
    ):
        new = Path(tmp, out.name)
        shutil.copytree(root / "book", new / "book", ignore=_SKIPPED)
        for name in ("_config.yml", "_toc.yml"):
            shutil.copy(root / name, new / name)
        (new / "notebooks").mkdir()
        for name in listed(root):
            source = executed / f"{name}.ipynb"
            page = new / "notebooks" / source.name
            if source.is_file():
                notebook = clean(json.loads(source.read_text("utf-8")), scrub)
                page.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), "utf-8")
            else:
                missing.append(name)
                text = placeholder(name, root / "notebooks" / source.name)
                page.with_suffix(".md").write_text(text, "utf-8")
        if (results / "figures").is_dir():
            shutil.copytree(results / "figures", new / "figures", ignore=_SKIPPED)
        (new / "records").mkdir()
        for path in sorted((records or results).glob("*.parquet")):
            shutil.copy(path, new / "records" / path.name)
        for name in ("claims.json", "machine.json"):
            if (results / name).is_file():
                text = scrub((results / name).read_text(encoding="utf-8"))
                (new / "book" / name).write_text(text, encoding="utf-8")
        put_in_place(new, out)
    return missing


def fingerprint(stage: Path) -> str:
    """Return a hash of all that a rendering depends on: pages, docstrings and renderer."""
    digest = hashlib.sha256()
    for package in RENDERERS:
        digest.update(f"{package} {version(package)}\n".encode())
    if (stage / "book" / "api").is_dir():  # pages made of docstrings
        digest.update(provenance.code(whole=True).encode())
    for file in sorted(stage.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            name = file.relative_to(stage)
            digest.update(f"{name}\0{file.stat().st_size}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def render(stage: Path, html: Path) -> bool:
    """Render a staged book strictly, whole or not at all; return whether anything had changed."""
    stage, html = stage.resolve(), html.resolve()
    html.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        for folder in sorted({stage.parent, html.parent}):
            held.enter_context(locked(folder, "book"))
        digest, mark = fingerprint(stage), html / ".fingerprint"
        if (html / "index.html").is_file() and mark.is_file() and mark.read_text() == digest:
            print(f"book: nothing changed, {near(html / 'index.html')}", flush=True)
            return False
        for leftover in html.parent.glob(".render-*"):  # a killed run's
            shutil.rmtree(leftover, ignore_errors=True)
        tmp = Path(held.enter_context(tempfile.TemporaryDirectory(".d", ".render-", html.parent)))
        log = html.parent / "book.log"
        started = time.monotonic()
        build_pages(stage, tmp, log)
        site = tmp / "_build" / "html"
        (site / ".fingerprint").write_text(digest)
        put_in_place(site, html)
    took = time.monotonic() - started
    print(f"book: rendered in {took:.0f} s, {near(html / 'index.html')}", flush=True)
    return True


def build_pages(stage: Path, out: Path, log: Path, builder: str = "html") -> None:
    """Have jupyter-book make pages of a staged book in ``out/_build/<builder>``."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build"]
    command += [str(stage), "--path-output", str(out), "-W", "-n", "--keep-going"]
    if builder != "html":
        command += ["--builder", "custom", "--custom-builder", builder]
    env = {**os.environ, "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    print("book: rendering", flush=True)
    with log.open("wb") as file:
        process = subprocess.run(command, cwd=stage, env=env, stdout=file, stderr=file)
    messages = _COLOUR.sub("", log.read_text("utf-8", "replace")).replace(f"{stage}/", "")
    log.write_text(messages, encoding="utf-8")
    if process.returncode or not (out / "_build" / builder / "index.html").is_file():
        lines = [line.strip() for line in messages.splitlines() if _TROUBLE.search(line)]
        troubles = list(dict.fromkeys(lines)) or ["(no message)"]
        shown = "\n".join(f"  {line}" for line in troubles[:12])
        more = f"\n  and {len(troubles) - 12} more" if len(troubles) > 12 else ""
        raise RenderError(f"the book was not rendered:\n{shown}{more}\nAll of it: {near(log)}")


def summary(executed: Path, missing: Sequence[str], results: Path, html: Path) -> str:
    ran = len(list(executed.glob("*.ipynb")))
    placeholders = f", {len(missing)} with a placeholder page" if missing else ""
    lines = [f"{ran} notebooks ran{placeholders}"]
    if (judged := results / "claims.json").exists():
        rows = json.loads(judged.read_text(encoding="utf-8"))
        lines.append(claims.totals([row["verdict"] for row in rows]))
    return "\n".join([*lines, f"the book: {near(html / 'index.html')}"])


def near(path: Path) -> str:
    """Return a path as a user would type it from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
