"""The synthetic datasets in files of several layouts: how large they are."""

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile

import data_gen

from ..io.creation import stored_bytes
from ..io.layout import Layout

ZIPPED = ", zipped"  # how the name of a layout ends whose store is put into a zip archive


def sizes(
    data: Mapping[str, tuple[data_gen.Dataset, data_gen.Dataset]],
    layouts: Mapping[str, Mapping[str, Layout]],
    folder: Path,
) -> Iterator[dict[str, object]]:
    """Yield the size of each dataset in each layout, scaled from what is written to the whole."""
    for name, (written, whole) in data.items():
        ways = layouts[name]
        parameters = asdict(written.parameters)
        paths = data_gen.ensure_all(written.name, list(ways.values()), folder, **parameters)
        for (layout, stored), path in zip(ways.items(), paths, strict=True):
            size = zipped_bytes(path) if layout.endswith(ZIPPED) else stored_bytes(path)
            yield {
                "dataset": name,
                "layout": layout,
                "phase": "size",
                **stored.record(),
                "file_bytes": round(size * whole.nbytes / written.nbytes),
                "useful_bytes": whole.nbytes,
                "stages": written.parts,
            }


def zipped_bytes(store: Path) -> int:
    with TemporaryFile(dir=store.parent) as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as out:
            for file in sorted(store.rglob("*")):
                if file.is_file():
                    out.write(file, file.relative_to(store).as_posix())
        return packed.seek(0, 2)
