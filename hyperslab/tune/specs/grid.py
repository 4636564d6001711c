"""From options to the list of layouts that are tried: one, several, or every combination."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from hyperslab.io.sources.base import SourceVariable

from . import parse
from .auto import candidates, shapes
from .target import COPY, SAME, Choice, Target, chunked_format

SWEPT = ("format", "chunks", "codec", "shuffle", "quantize", "endian", "cache")
MOST_TARGETS = 64


@dataclass(frozen=True)
class Wanted:
    """The layouts that were asked for, as they were typed."""

    options: Mapping[str, Sequence[str]]  # values by option, one of `SWEPT`; several are swept over
    bm: Sequence[str] = ()  # each ``-c`` of bm_file, a layout of its own
    copy: bool = True  # whether the layout as it is comes first, to compare with

    @property
    def automatic(self) -> bool:
        """Whether chunks are to be found for the usual reads."""
        return any(value.lower() == "auto" for value in self.options.get("chunks", ()))

    @property
    def varied(self) -> tuple[str, ...]:
        """The options that the names of layouts tell: those that differ, or all for one."""
        several = tuple(name for name in SWEPT if len(self.options.get(name, ())) > 1)
        alone = not several and not self.automatic and len(self.bm) < 2
        return SWEPT if alone else several

    @property
    def common(self) -> str:
        """What all new layouts have in common, where their names leave it out."""
        told = {*self.varied, *(["chunks"] if self.automatic else [])}
        return _label({name: v[0] for name, v in self.options.items() if name not in told}, SWEPT)


def sweeps(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of ``--grid NAME=VALUE/VALUE`` by name."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, _, values = text.partition("=")
        name = name.strip().lower()
        listed = [value.strip() for value in values.split("/") if value.strip()]
        if name not in SWEPT or not listed:
            known = ", ".join(SWEPT)
            raise ValueError(f"--grid {text}: give NAME=VALUE/VALUE, with a name of {known}")
        if name in found:
            raise ValueError(f"--grid {text}: {name} is swept already: put all values into one")
        found[name] = listed
    return found


def targets(
    wanted: Wanted,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> list[Target]:
    """Return the layouts to try, in order, each once; `candidates` where none was asked for."""
    if not wanted.options and not wanted.bm:
        return candidates(format, variables, chosen)[0 if wanted.copy else 1 :]
    if wanted.bm and (own := {"chunks", "codec", "shuffle"} & wanted.options.keys()):
        raise ValueError(f"-c and {min(own)} together: -c says chunks, deflate and shuffle itself: "
                         "put all of them into -c, or none")  # fmt: skip
    made = [Target(COPY, format)] if wanted.copy else []
    made += _combined(wanted, format, variables, chosen)
    kept: dict[str, Target] = {}
    for target in dict.fromkeys(made):
        label, n = target.name, 2
        while label in kept:
            label, n = f"{target.name} ({n})", n + 1
        kept[label] = replace(target, name=label)
    if len(kept) > MOST_TARGETS:
        raise ValueError(f"{len(kept)} layouts, more than {MOST_TARGETS}: sweep over fewer values")
    for target in kept.values():
        target.fit(chosen, {})  # refuses what the format cannot hold
    return list(kept.values())


def _combined(
    wanted: Wanted,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> Iterator[Target]:
    """Yield a layout for every combination of the values, and for each of its sets of chunks."""
    swept = [name for name in SWEPT if name in wanted.options]
    for values in product(*(wanted.options[name] for name in swept)):
        one = dict(zip(swept, values, strict=True))
        automatic = one.get("chunks", "").lower() == "auto"
        if automatic:
            del one["chunks"]
        base = _target(one, format)
        if (automatic or wanted.bm) and "format" not in one:
            base = replace(base, format=chunked_format(base.format))
        each: dict[str, dict[str, Choice]] = {}
        for text in wanted.bm:
            own = parse.bm_choices(text, list(variables))
            quantized = {v: replace(c, quantize=base.choice.quantize) for v, c in own.items()}
            each[text if len(own) > 1 else _bm_label(*own.values())] = quantized
        if automatic:
            for name, lengths in shapes(variables, chosen).items():
                each[name] = {v: replace(base.choice, chunks=n) for v, n in lengths.items()}
        for name, choices in (each or {"": {}}).items():
            label = f"{name} {_label(one, wanted.varied)}".strip() or base.format
            yield replace(base, name=label, each=tuple(choices.items()))


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
        byteorder=parse.byteorder(one.get("endian", "native")),
        cache_bytes=parse.size(one["cache"]) if one.get("cache", SAME) != SAME else None,
    )


def _bm_label(choice: Choice) -> str:
    shown = "x".join(map(str, choice.lengths)) or str(choice.chunks)
    chunks = f"{shown} chunks" if shown == "default" else shown
    codec = f" {choice.codec}:{choice.level}" if choice.codec != "none" else ""
    return f"{chunks}{codec}{' shuffle' if choice.shuffle else ''}"


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
        case "endian":
            return f"{parse.byteorder(value)}-endian"
        case "cache":
            return f"cache {value}"
    return "uncompressed" if (name, value) == ("codec", "none") else value
