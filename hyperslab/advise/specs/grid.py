"""From options to the list of layouts that are tried: one, several, or every combination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from hyperslab.io.layout import CHUNKED

from . import parse as specs_parse
from .auto import candidates, shapes
from .target import Choice, Described, Target

SWEPT = ("format", "chunks", "codec", "shuffle", "quantize", "endian", "cache")
MOST_TARGETS = 64


@dataclass(frozen=True)
class Wanted:
    """The layouts that were asked for, as they were typed.

    Parameters
    ----------
    options
        Values by option, one of `SWEPT`; several are swept over.
    bm
        Each ``-c`` of bm_file, a layout of its own.
    copy
        Whether the layout as it is comes first, to compare with.

    Examples
    --------
    >>> Wanted({"chunks": ("1,721,1440",), "codec": ("none", "zstd:3")}).copy
    True
    """

    options: Mapping[str, Sequence[str]]
    bm: Sequence[str] = ()
    copy: bool = True


def sweeps(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return the values of ``--grid NAME=VALUE/VALUE`` by name.

    Raises
    ------
    ValueError
        For a name that cannot be swept, or one given twice.

    Examples
    --------
    >>> sweeps(["codec=none/zstd:3", "chunks=1,721,1440/time=10,lat=100"])
    {'codec': ['none', 'zstd:3'], 'chunks': ['1,721,1440', 'time=10,lat=100']}
    """
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
    variables: Mapping[str, Described],
    chosen: Sequence[Described],
) -> list[Target]:
    """Return the layouts to try, in order, each once.

    Parameters
    ----------
    wanted
        What was asked for; with nothing, `candidates` are taken.
    format
        Of the file.
    variables
        All of its variables, in its order.
    chosen
        Those that are copied.

    Raises
    ------
    ValueError
        When something cannot be had; the message names it.
    """
    if not wanted.options and not wanted.bm:
        found = candidates(format, variables, chosen)
        return found if wanted.copy else found[1:]
    _check_bm(wanted)
    found = [Target("copy", format)] if wanted.copy else []
    names, shown = list(variables), _varied(wanted)
    for text in wanted.bm:
        for one in _products(wanted.options):
            found.append(_from_bm(text, one, format, names, shown))
    if not wanted.bm:
        found += _combined(wanted.options, format, variables, chosen, shown)
    kept = _named_apart(found)
    if len(kept) > MOST_TARGETS:
        raise ValueError(f"{len(kept)} layouts, more than {MOST_TARGETS}: sweep over fewer values")
    for target in kept:
        target.layouts(chosen)
    return kept


def common(wanted: Wanted) -> str:
    """Return what all new layouts have in common, where their names leave it out.

    Examples
    --------
    >>> common(Wanted({"chunks": ("default", "same"), "codec": ("zstd:3",)}))
    'zstd:3'
    """
    shown = _varied(wanted)
    alike = {name: values[0] for name, values in wanted.options.items() if name not in shown}
    if _automatic(wanted):
        alike.pop("chunks", None)
    return _label(alike, SWEPT)


def _varied(wanted: Wanted) -> tuple[str, ...]:
    """Return the options that the names of layouts tell: those that differ, or all for one."""
    several = tuple(n for n in SWEPT if len(wanted.options.get(n, ())) > 1)
    alone = not several and not _automatic(wanted) and len(wanted.bm) < 2
    return SWEPT if alone else several


def _automatic(wanted: Wanted) -> bool:
    return any(value.lower() == "auto" for value in wanted.options.get("chunks", ()))


def _check_bm(wanted: Wanted) -> None:
    if not wanted.bm:
        return
    if own := [name for name in ("chunks", "codec", "shuffle") if name in wanted.options]:
        raise ValueError(
            f"-c and {own[0]} together: -c says chunks, deflate and shuffle itself: put all of "
            "them into -c, or none"
        )


def _products(options: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Return every combination of the values of options."""
    given = [name for name in SWEPT if name in options]
    combined = product(*(options[name] for name in given))
    return [dict(zip(given, values, strict=True)) for values in combined]


def _named_apart(found: Sequence[Target]) -> list[Target]:
    """Return targets without repetitions, each with a name of its own."""
    kept: list[Target] = []
    for target in found:
        names = {one.name for one in kept}
        if target in kept:
            continue
        label, n = target.name, 2
        while label in names:
            label, n = f"{target.name} ({n})", n + 1
        kept.append(target.renamed(label))
    return kept


def _combined(
    options: Mapping[str, Sequence[str]],
    format: str,
    variables: Mapping[str, Described],
    chosen: Sequence[Described],
    shown: Sequence[str],
) -> list[Target]:
    found = []
    for one in _products(options):
        label = _label(one, shown)
        if one.get("chunks", "").lower() != "auto":
            found.append(_target(one, format, label))
            continue
        base = _target({k: v for k, v in one.items() if k != "chunks"}, format, label)
        for name, each in shapes(variables, chosen).items():
            choices = tuple((v, replace(base.choice, chunks=chunks)) for v, chunks in each.items())
            rest = _label(one, [k for k in shown if k != "chunks"])
            named = " ".join(filter(None, (name, rest)))
            able = base.format if "format" in one else _able(base.format)
            found.append(replace(base, name=named, format=able, each=choices))
    return found


def _target(one: Mapping[str, str], format: str, label: str) -> Target:
    codec, level = specs_parse.codec(one.get("codec", "same"))
    chunks = specs_parse.chunks(one["chunks"]) if "chunks" in one else "same"
    shuffle = specs_parse.switch(one["shuffle"]) if "shuffle" in one else None
    choice = Choice(
        chunks,
        codec,
        level,
        None if codec == "none" else shuffle,
        specs_parse.quantize(one["quantize"]) if "quantize" in one else None,
    )
    needs = not isinstance(chunks, str) or chunks == "default" or codec not in ("same", "none")
    needs = needs or choice.quantize is not None
    chosen = specs_parse.format_name(one["format"]) if "format" in one else format
    return Target(
        label or chosen,
        _able(chosen) if needs and "format" not in one else chosen,
        choice,
        (),
        specs_parse.byteorder(one.get("endian", "native")),
        specs_parse.size(one["cache"]) if one.get("cache", "same") != "same" else None,
    )


def _from_bm(
    text: str,
    one: Mapping[str, str],
    format: str,
    names: Sequence[str],
    shown: Sequence[str],
) -> Target:
    each = specs_parse.bm_choices(text, names)
    base = _target(one, format, "-c")
    if base.choice.quantize:
        each = tuple((v, replace(choice, quantize=base.choice.quantize)) for v, choice in each)
    label = _bm_label(each[0][1]) if len(each) == 1 else text
    chosen = base.format if "format" in one else _able(base.format)
    named = " ".join(filter(None, (label, _label(one, shown))))
    return replace(base, name=named, format=chosen, each=each)


def _bm_label(choice: Choice) -> str:
    chunks = choice.chunks
    shown = "x".join(str(n) for n in chunks)
    if isinstance(chunks, str):
        shown = f"{chunks} chunks" if chunks == "default" else chunks
    codec = f" {choice.codec}:{choice.level}" if choice.codec != "none" else ""
    return f"{shown}{codec}{' shuffle' if choice.shuffle else ''}"


def _label(one: Mapping[str, str], shown: Sequence[str]) -> str:
    words = []
    for name in SWEPT:
        idle = name == "shuffle" and one.get("codec") == "none"
        if name in one and name in shown and not idle:
            words.append(_word(name, one[name]))
    return " ".join(filter(None, words))


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
