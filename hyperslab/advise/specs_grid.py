"""From options to the list of layouts that are tried: one, several, or every combination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from hyperslab.storage.layout import CHUNKED

from . import specs_parse
from .specs import Choice, Described, Target
from .specs_auto import candidates, shapes

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
    single = {name: values for name, values in wanted.options.items() if len(values) == 1}
    found = [Target("copy", format)] if wanted.copy else []
    names = list(variables)
    for text in wanted.bm:
        fixed = {name: values[0] for name, values in single.items()}
        found.append(_from_bm(text, fixed, format, names))
    if wanted.options and not (wanted.bm and len(single) == len(wanted.options)):
        found += _combined(wanted.options, format, variables, chosen)
    kept = list({target.name: target for target in reversed(found)}.values())[::-1]
    if len(kept) > MOST_TARGETS:
        raise ValueError(f"{len(kept)} layouts, more than {MOST_TARGETS}: sweep over fewer values")
    for target in kept:
        target.layouts(chosen)
    return kept


def _combined(
    options: Mapping[str, Sequence[str]],
    format: str,
    variables: Mapping[str, Described],
    chosen: Sequence[Described],
) -> list[Target]:
    given = [name for name in SWEPT if name in options]
    found = []
    for values in product(*(options[name] for name in given)):
        one = dict(zip(given, values, strict=True))
        if one.get("chunks", "").lower() != "auto":
            found.append(_target(one, format))
            continue
        for name, each in shapes(variables, chosen).items():
            base = _target({k: v for k, v in one.items() if k != "chunks"}, format)
            choices = tuple((v, _with_chunks(base.choice, chunks)) for v, chunks in each.items())
            label = " ".join(filter(None, (name, _label(one, skip="chunks"))))
            found.append(
                Target(label, _able(base.format), base.choice, choices, base.byteorder,
                       base.cache_bytes)
            )  # fmt: skip
    return found


def _target(one: Mapping[str, str], format: str) -> Target:
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
        _label(one) or chosen,
        _able(chosen) if needs and "format" not in one else chosen,
        choice,
        (),
        specs_parse.byteorder(one.get("endian", "native")),
        specs_parse.size(one["cache"]) if one.get("cache", "same") != "same" else None,
    )


def _from_bm(text: str, fixed: Mapping[str, str], format: str, names: Sequence[str]) -> Target:
    each = specs_parse.bm_choices(text, names)
    base = _target({k: v for k, v in fixed.items() if k in ("format", "endian", "cache")}, format)
    label = " ".join(filter(None, (_bm_label(each[0][1]), _label(fixed, skip="chunks"))))
    if len(each) > 1:
        label = f"{text} {_label(fixed)}".strip()
    chosen = base.format if "format" in fixed else _able(base.format)
    return Target(label, chosen, Choice(), each, base.byteorder, base.cache_bytes)


def _bm_label(choice: Choice) -> str:
    chunks = choice.chunks
    shown = chunks if isinstance(chunks, str) else "x".join(str(n) for n in chunks)
    codec = f" {choice.codec}:{choice.level}" if choice.codec != "none" else ""
    return f"{shown}{codec}{' shuffle' if choice.shuffle else ''}"


def _label(one: Mapping[str, str], skip: str = "") -> str:
    words = []
    for name in SWEPT:
        idle = name == "shuffle" and one.get("codec") == "none"
        if name in one and name != skip and not idle:
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


def _with_chunks(choice: Choice, chunks: tuple[int, ...]) -> Choice:
    return Choice(chunks, choice.codec, choice.level, choice.shuffle, choice.quantize)


def _able(format: str) -> str:
    """Return a format that can do what a chunked layout asks for."""
    return format if format in CHUNKED else "netcdf4"
