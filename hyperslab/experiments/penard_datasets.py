"""The synthetic datasets in files of several layouts: how large they are."""

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import data_gen

from ..io.creation import stored_bytes
from ..io.layout import Layout
from ..io.work import remove

ZIP_LEVEL = 6
ZIPPED = ", zipped"  # how the name of a layout ends whose store is put into a zip archive


def sizes(
    data: Mapping[str, tuple[data_gen.Dataset, data_gen.Dataset]],
    layouts: Mapping[str, Mapping[str, Layout]],
    folder: Path,
) -> Iterator[dict[str, object]]:
    """Yield a row for each dataset in each layout: the size of its file, scaled to the whole.

    Parameters
    ----------
    data : mapping
        By the label dataset: what is written of it, and the whole.
    layouts : mapping
        Of each dataset, by the label layout. The name of what is to be zipped ends in `ZIPPED`.
    folder : Path
        Where the files are for a while.
    """
    for name, (part, whole) in data.items():
        paths = {
            layout: folder / f"{part.name}-{number}{stored.suffix}"
            for number, (layout, stored) in enumerate(layouts[name].items())
        }
        try:
            targets = {path: layouts[name][layout] for layout, path in paths.items()}
            data_gen.write(part, targets, sync=False)
            for layout, path in paths.items():
                size = zipped_bytes(path) if layout.endswith(ZIPPED) else stored_bytes(path)
                yield {
                    "dataset": name,
                    "layout": layout,
                    "phase": "size",
                    **targets[path].record(),
                    "file_bytes": round(size * whole.nbytes / part.nbytes),
                    "useful_bytes": whole.nbytes,
                    "stages": part.parts,
                }
        finally:
            for path in paths.values():
                remove(path)


def zipped_bytes(store: Path) -> int:
    """Return how large a store is as a zip archive."""
    packed = store.with_suffix(".zip")
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=ZIP_LEVEL) as out:
            for file in sorted(store.rglob("*")):
                if file.is_file():
                    out.write(file, file.relative_to(store).as_posix())
        return packed.stat().st_size
    finally:
        packed.unlink(missing_ok=True)
