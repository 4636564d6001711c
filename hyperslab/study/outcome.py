"""What a rendered book was made of, in a few lines for the terminal."""

import json
from collections.abc import Mapping
from pathlib import Path

from .. import claims
from .book import near


def summary(executed: Path, missing: Mapping[str, str], results: Path, html: Path) -> str:
    """Return how many notebooks are in a book, the claims by verdict, and where the book is."""
    ran = len(list(executed.glob("*.ipynb")))
    placeholders = f", {len(missing)} with a placeholder page" if missing else ""
    lines = [f"{ran} notebooks ran{placeholders}"]
    if (judged := results / "claims.json").exists():
        rows = json.loads(judged.read_text(encoding="utf-8"))
        lines.append(claims.totals([row["verdict"] for row in rows]))
    return "\n".join([*lines, f"the book: {near(html / 'index.html')}"])
