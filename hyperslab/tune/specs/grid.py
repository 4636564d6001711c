"""From options to the list of layouts that are tried: one, several, or every combination."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from hyperslab.io.layout import CHUNKED

from ..sources.base import SourceVariable
from . import parse as specs_parse
from .auto import candidates, shapes
from .target import Choice, Target

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
        alike = {name: v[0] for name, v in self.options.items() if name not in self.varied}
        if self.automatic:
            alike.pop("chunks", None)
        return _label(alike, SWEPT)

    def combinations(self) -> Iterator[dict[str, str]]:
        """Yield every combination of the values of options."""
        given = [name for name in SWEPT if name in self.options]
        for values in product(*(self.options[name] for name in given)):
            yield dict(zip(given, values, strict=True))


def sweeps(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of ``--grid NAME=VALUE/VALUE`` by name."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().lower()
        listed = [value.strip() for value in values.split("/") if value.strip()]
        if name not in SWEPT or not equals or not listed:
            raise ValueError(
                f"--grid {text}: give NAME=VALUE/VALUE, with a name of {', '.join(SWEPT)}"
            )
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
        found = candidates(format, variables, chosen)
        return found if wanted.copy else found[1:]
    if wanted.bm and (own := {"chunks", "codec", "shuffle"} & wanted.options.keys()):
        raise ValueError(
            f"-c and {min(own)} together: -c says chunks, deflate and shuffle itself: put all of "
            "them into -c, or none"
        )
    made = [Target("copy", format)] if wanted.copy else []
    if wanted.bm:
        made += _from_bm(wanted, format, list(variables))
    else:
        made += _combined(wanted, format, variables, chosen)
    kept: list[Target] = []
    for target in dict.fromkeys(made):
        names, label, n = {one.name for one in kept}, target.name, 2
        while label in names:
            label, n = f"{target.name} ({n})", n + 1
        kept.append(target.renamed(label))
    if len(kept) > MOST_TARGETS:
        raise ValueError(f"{len(kept)} layouts, more than {MOST_TARGETS}: sweep over fewer values")
    for target in kept:
        target.layouts(chosen)
    return kept


def _combined(
    wanted: Wanted,
    format: str,
    variables: Mapping[str, SourceVariable],
    chosen: Sequence[SourceVariable],
) -> Iterator[Target]:
    for one in wanted.combinations():
        label = _label(one, wanted.varied)
        if one.get("chunks", "").lower() != "auto":
            yield _target(one, format, label)
            continue
        base = _target({k: v for k, v in one.items() if k != "chunks"}, format, label)
        rest = _label(one, [k for k in wanted.varied if k != "chunks"])
        able = base.format if "format" in one else _able(base.format)
        for name, each in shapes(variables, chosen).items():
            choices = tuple((v, replace(base.choice, chunks=chunks)) for v, chunks in each.items())
            named = " ".join(filter(None, (name, rest)))
            yield replace(base, name=named, format=able, each=choices)


def _from_bm(wanted: Wanted, format: str, names: Sequence[str]) -> Iterator[Target]:
    for text, one in product(wanted.bm, wanted.combinations()):
        each = specs_parse.bm_choices(text, names)
        base = _target(one, format, "-c")
        if base.choice.quantize:
            each = tuple((v, replace(choice, quantize=base.choice.quantize)) for v, choice in each)
        label = _bm_label(each[0][1]) if len(each) == 1 else text
        named = " ".join(filter(None, (label, _label(one, wanted.varied))))
        chosen = base.format if "format" in one else _able(base.format)
        yield replace(base, name=named, format=chosen, each=each)


def _target(one: Mapping[str, str], format: str, label: str) -> Target:
    codec, level = specs_parse.codec(one.get("codec", "same"))
    choice = Choice(
        specs_parse.chunks(one.get("chunks", "same")),
        codec,
        level,
        specs_parse.switch(one["shuffle"]) if "shuffle" in one and codec != "none" else None,
        specs_parse.quantize(one.get("quantize", "none")),
    )
    chunked = not isinstance(choice.chunks, str) or choice.chunks == "default"
    needs = chunked or codec not in ("same", "none") or choice.quantize is not None
    chosen = specs_parse.format_name(one.get("format", format))
    return Target(
        label or chosen,
        _able(chosen) if needs and "format" not in one else chosen,
        choice,
        (),
        specs_parse.byteorder(one.get("endian", "native")),
        specs_parse.size(one["cache"]) if one.get("cache", "same") != "same" else None,
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
    if name == "chunks":
        lengths = value.replace(":", "x").replace(",", "x") if "=" not in value else value
        return f"{lengths} chunks" if value in ("default", "same") else lengths
    if name == "format":
        return specs_parse.format_name(value)
    if name == "shuffle":
        return "shuffle" if specs_parse.switch(value) else "no shuffle"
    if name == "endian":
        return f"{specs_parse.byteorder(value)}-endian"
    if name == "cache":
        return f"cache {value}"
    return "uncompressed" if (name, value) == ("codec", "none") else value


def _able(format: str) -> str:
    """Return a format that can do what a chunked layout asks for."""
    return format if format in CHUNKED else "netcdf4"
