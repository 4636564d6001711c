"""Show that two checkouts draw and judge the same from the same records.

    python tools/judgement.py draw CHECKOUT RECORDS OUT [NOTEBOOK…]
    python tools/judgement.py compare OLD NEW [NOTEBOOK…]

Records to draw from: results/reference, and tools/smoke-records, which have few blocks, void times,
and nothing of MPI, kerchunk, hidefix and obstore. A checkout is drawn with the packages of the
Python that runs this. Claims agree when id, parts, document, measured, low, high, mark and verdict
do (numbers to 1e-9 of each other, parts in their order). Of figures the data of each drawn thing
are compared, of tables and texts the Markdown.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CLAIM = ("id", "document", "measured", "low", "high", "in_part", "basis", "verdict")
PART = ("name", "document", "measured", "low", "high", "marks", "verdict")
# Run by each kernel: what is drawn leaves its data beside its picture.
STARTUP = """
import json as _json
from pathlib import Path as _Path
from matplotlib.figure import Figure as _Figure
_save = _Figure.savefig
def _things(figure):
    for number, axes in enumerate(figure.axes):
        for line in axes.lines:
            yield number, "line", line.get_label(), line.get_xydata().tolist()
        for drawn in axes.collections:
            points = [p.vertices.tolist() for p in drawn.get_paths()]
            where = drawn.get_offsets().tolist()
            yield number, type(drawn).__name__, drawn.get_label(), [where, points]
        for patch in axes.patches:
            extents = patch.get_extents().transformed(axes.transData.inverted())
            yield number, "patch", patch.get_label(), extents.bounds
        for image in axes.images:
            yield number, "image", "", [list(image.get_size()), float(image.get_array().sum())]
def _save_with_data(figure, target, *args, **kwargs):
    if str(target).endswith(".light.svg"):
        things = [(*head, data) for *head, data in _things(figure)]
        data = _Path(str(target).replace(".light.svg", ".data.json"))
        data.write_text(_json.dumps(things, default=str))
    return _save(figure, target, *args, **kwargs)
_Figure.savefig = _save_with_data
"""


def draw(checkout: Path, records: Path, out: Path, names: list[str]) -> int:
    """Draw the pages of a checkout, and keep what is compared."""
    with tempfile.TemporaryDirectory() as tmp:
        startup = Path(tmp, "ipython/profile_default/startup")
        startup.mkdir(parents=True)
        (startup / "keep.py").write_text(STARTUP)
        environment = os.environ | {
            "PYTHONPATH": str(checkout), "IPYTHONDIR": str(Path(tmp, "ipython")),
        }  # fmt: skip
        command = ["run", *names, "--records", str(records.resolve()), "--workdir", f"{tmp}/work"]
        process = subprocess.run(
            [sys.executable, "-m", "hyperslab", *command],
            cwd=checkout,
            env=environment,
            check=False,
        )
        drawn = Path(tmp, "work/drawn")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for claims in drawn.glob("results/*/claims.json"):
            shutil.copy(claims, out)
        for data in drawn.glob("results/*/figures/*/*.data.json"):
            (out / data.parent.name).mkdir(exist_ok=True)
            shutil.copy(data, out / data.parent.name)
        for notebook in drawn.glob("executed/*/*.ipynb"):
            texts = [
                output["data"]["text/x-myst"]
                for cell in json.loads(notebook.read_text())["cells"]
                for output in cell.get("outputs", ())
                if "text/x-myst" in output.get("data", {})
            ]
            joined = ["".join(text) for text in texts]
            (out / f"{notebook.stem}.page.json").write_text(json.dumps(joined, indent=1))
    return process.returncode


def same(old: object, new: object) -> bool:
    """Whether values are the same, numbers to 1e-9 of each other."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    if isinstance(old, int | float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=1e-9) or (math.isnan(old) and math.isnan(new))
    return old == new


def judged(path: Path) -> dict[str, object]:
    """What a verdict is made of, by the claim's id."""
    claims = json.loads((path / "claims.json").read_text())
    return {
        claim["id"]: [
            {name: claim.get(name) for name in CLAIM},
            [{name: part.get(name) for name in PART} for part in claim.get("parts", ())],
        ]
        for claim in claims
    }


def compare(old: Path, new: Path, names: list[str]) -> int:
    """Print each difference; return how many there are."""
    before, after = judged(old), judged(new)
    differing = [
        f"claim {name}: {before.get(name)} became {after.get(name)}"
        for name in sorted({*before, *after})
        if not same(before.get(name), after.get(name))
    ]
    print(f"{len(before)} claims and {len(after)}, {len(differing)} differ")
    for kind in ("*.page.json", "*/*.data.json"):
        listed = {path.relative_to(root) for root in (old, new) for path in root.glob(kind)}
        chosen = [
            p for p in sorted(listed) if not names or p.parts[0].removesuffix(".page.json") in names
        ]
        for path in chosen:
            if not ((old / path).exists() and (new / path).exists()):
                differing.append(f"{path} is in {old if (old / path).exists() else new} alone")
                continue
            old_things, new_things = (json.loads((root / path).read_text()) for root in (old, new))
            differing += [
                f"{path}: {number}: {str(first)[:200]!r} became {str(second)[:200]!r}"
                for number, (first, second) in enumerate(zip(old_things, new_things, strict=False))
                if not same(first, second)
            ]
            if len(old_things) != len(new_things):
                differing.append(f"{path}: {len(old_things)} things became {len(new_things)}")
        print(f"{len(chosen)} of {kind} compared")
    print("\n".join(differing) or "no difference")
    return len(differing)


def main() -> int:
    """Draw or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    for name in ("checkout", "records", "out"):
        drawing.add_argument(name, type=Path)
    comparing = commands.add_parser("compare")
    for name in ("old", "new"):
        comparing.add_argument(name, type=Path)
    for command in (drawing, comparing):
        command.add_argument("notebooks", nargs="*")
    given = parser.parse_args()
    if given.command == "draw":
        return draw(given.checkout.resolve(), given.records, given.out, given.notebooks)
    return min(1, compare(given.old, given.new, given.notebooks))


if __name__ == "__main__":
    sys.exit(main())
