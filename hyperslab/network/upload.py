"""Put files into a store that others run, where they are not there yet."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hyperslab.network.endpoint import Endpoint


def upload(place: Endpoint, paths: Iterable[Path]) -> int:
    """Put files and the files of folders into a store, and return how many.

    They lie there under its address, by the names of their paths; what has its name and size
    stays. No error tells a key, a host or a bucket.
    """
    import fsspec

    if place.kind != "s3":
        raise ValueError("files are put into stores of S3 only: give an address s3://bucket/prefix")
    try:
        system, root = fsspec.core.url_to_fs(place.url, **place.storage_options)
        there = {key: facts["size"] for key, facts in system.find(root, detail=True).items()}
        missing = [
            (file, f"{root}/{name}")
            for path in paths
            for name, file in _files(path)
            if there.get(f"{root}/{name}") != file.stat().st_size
        ]
        for file, key in missing:
            system.put_file(str(file), key)
    except Exception as error:
        raise OSError(place.said(f"{type(error).__name__}: {error}")) from None
    return len(missing)


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield what each file is called there, and where it is here."""
    found = path.resolve()
    if found.is_file():
        yield path.name, found
        return
    for file in sorted(found.rglob("*")):
        if file.is_file():
            yield f"{path.name}/{file.relative_to(found).as_posix()}", file
