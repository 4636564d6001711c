"""What is kept secret, and how a text is told without it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, quote, unquote

_NAMES = re.compile("key|secret|token|pass|auth|credential|cookie|sig", re.IGNORECASE)
_SHORT = 3  # characters: within a word these stand by chance


def concealed(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without secrets, and its addresses without user, password and query."""
    # Secrets are hidden plain and as addresses have them, also within words.
    forms = {form for secret in secrets if secret for form in (secret, unquote(secret))}
    for form in sorted(forms, key=len, reverse=True):
        edge = r"\b" if len(form) <= _SHORT else ""
        spelled = "".join(map(_spelled, form))
        text = re.sub(f"{edge}{spelled}{edge}", "…", text, flags=re.IGNORECASE)
    text = re.sub(r"//[^/?#\s]*@", "//", text)
    return re.sub(r"\?(?=[\w%&=~+/.-])[^\s'\"<>]*", "", text)


def of_options(options: Mapping[str, object]) -> Iterator[str]:
    """Yield the secrets of options: texts that stand below names like "key" or "Authorization"."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            inside = value if not _NAMES.search(name) else {f"key {n}": v for n, v in value.items()}
            yield from of_options(inside)
        elif _NAMES.search(name):
            items = value if isinstance(value, list | tuple) else (value,)  # a login of aiohttp
            for secret in (item for item in items if isinstance(item, str | bytes)):
                text = secret.decode("latin-1") if isinstance(secret, bytes) else secret
                yield from {text, *text.split()[1:]}  # "Bearer" is none


def of_url(url: str) -> Iterator[str]:
    """Yield the secrets of a URL: its password, its query, and what that names as secret."""
    address, _, query = url.partition("#")[0].partition("?")
    login, at, _ = address.partition("://")[2].partition("/")[0].rpartition("@")
    if at:
        yield login.partition(":")[2]
    if query:
        yield query
        yield from (value for name, value in parse_qsl(query) if _NAMES.search(name))


def _spelled(character: str) -> str:
    """Return the pattern of a character, plain or as addresses have it."""
    plain, quoted = re.escape(character), quote(character, safe="")
    return plain if quoted == character else f"(?:{plain}|{quoted})"
