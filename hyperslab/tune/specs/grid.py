"""From options to the list of layouts that are tried: one, several, or every combination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from hyperslab.io.sources.base import SourceVariable

from . import parse
from .auto import candidates, shapes
from .target import COPY, SAME, Choice, Target, chunked_format

SWEPT = ("chunks", "format", "codec", "shuffle", "quantize", "cache")
MOST_TARGETS = 64
Options = Mapping[str, Sequence[str]]  # values as they were typed, by a name of `SWEPT`


def targets(
    options: Options,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> list[Target]:
    """Return the layouts to try, in order, each once; `candidates` where none was asked for."""
    if not options:
        return candidates(format, variables, chosen)
    made = {target.name: target for target in _combined(options, format, variables, chosen)}
    if len(made) >= MOST_TARGETS:
        raise ValueError(f"{len(made) + 1} layouts, more than {MOST_TARGETS}: sweep over fewer "
                         "values")  # fmt: skip
    found = [Target(COPY, format), *made.values()]
    for target in found:
        target.fit(chosen, {})  # refuses what the format cannot hold
    return found


def common(options: Options) -> str:
    """Return what all new layouts have in common, where their names leave it out."""
    told = {*_varied(options), *(["chunks"] if _automatic(options.get("chunks", ())) else [])}
    return _label({name: values[0] for name, values in options.items() if name not in told}, SWEPT)


def _varied(options: Options) -> Sequence[str]:
    """Return the options that the names of layouts tell: those that differ, or all for one."""
    several = [name for name in SWEPT if len(options.get(name, ())) > 1]
    return several if several or _automatic(options.get("chunks", ())) else SWEPT


def _automatic(chunks: Sequence[str]) -> bool:
    return any(value.lower() == "auto" for value in chunks)


def _combined(
    options: Options,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> Iterator[Target]:
    """Yield a layout for every combination of the values, and for each of its sets of chunks."""
    swept = [name for name in SWEPT if name in options]
    for values in product(*(options[name] for name in swept)):
        one = dict(zip(swept, values, strict=True))
        automatic = _automatic([one.get("chunks", "")])
        if automatic:
            del one["chunks"]
        base, label = _target(one, format), _label(one, _varied(options))
        if not automatic:
            yield replace(base, name=label or base.format)
            continue
        if "format" not in one:
            base = replace(base, format=chunked_format(base.format))
        for name, lengths in shapes(variables, chosen).items():
            each = tuple((v, replace(base.choice, chunks=n)) for v, n in lengths.items())
            yield replace(base, name=f"{name} {label}".strip(), each=each)


def _target(one: Mapping[str, str], format: str) -> Target:
    """Return the layout of one combination, without a name."""
    codec, level = parse.codec(one.get("codec", SAME))
    shuffle = parse.switch(one["shuffle"]) if "shuffle" in one and codec != "none" else None
    chunks = parse.chunks(one.get("chunks", SAME))
    digits = parse.quantize(one.get("quantize", "none"))
    chunked = not isinstance(chunks, str) or chunks == "default"
    if "format" in one:
        format = parse.format_name(one["format"])
    elif chunked or codec not in (SAME, "none") or digits is not None:
        format = chunked_format(format)
    return Target(
        "",
        format,
        Choice(chunks, codec, level, shuffle, digits),
        cache_bytes=parse.size(one["cache"]) if one.get("cache", SAME) != SAME else None,
    )


def _label(one: Mapping[str, str], shown: Sequence[str]) -> str:
    named = [name for name in SWEPT if name in one and name in shown]
    if one.get("codec") == "none" and "shuffle" in named:
        named.remove("shuffle")
    return " ".join(_word(name, one[name]) for name in named)


def _word(name: str, value: str) -> str:
    match name:
        case "chunks" if value in ("default", SAME):
            return f"{value} chunks"
        case "chunks" if "=" not in value:
            return value.replace(":", "x").replace(",", "x")
        case "format":
            return parse.format_name(value)
        case "shuffle":
            return "shuffle" if parse.switch(value) else "no shuffle"
        case "cache":
            return f"cache {value}"
    return "uncompressed" if (name, value) == ("codec", "none") else value
