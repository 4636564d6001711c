"""A built book: where its links lead, and what each page asks, says and shows in a browser."""

import asyncio
import contextlib
import functools
import html
import http.server
import re
import threading
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import async_playwright

from hyperslab.study.pdf import browser

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
TABS = 2
# One page of each kind, for all rules and for colours in the dark: the styles are the same on all.
KINDS = (
    "book/index.html", "book/symptoms.html", "book/chunks.html", "book/machine.html",
    "book/documents/chilan.html", "book/glossary.html", "book/api/io.html",
    "notebooks/claims.html", "notebooks/explorer.html", "notebooks/lee_access.html",
    "notebooks/your_file.html",
)  # fmt: skip
# What surrounds a page is the same on all: elsewhere what is the page's own is looked at.
WHOLE = ("book/index.html", "notebooks/your_file.html")
# What a writer of any other page may forget.
WRITTEN = ("image-alt", "svg-img-alt", "link-name", "label", "scrollable-region-focusable")
GRAVE = ("serious", "critical")
AXE = Axe()

# The boxes that reach past the window, the innermost last; what scrolls in its own box may.
WIDER = """() => {
  const room = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= room) return [];
  const held = e => { for (let p = e.parentElement; p; p = p.parentElement)
    if (getComputedStyle(p).overflowX !== 'visible') return true; };
  return [...document.body.querySelectorAll('*')]
    .filter(e => e.getBoundingClientRect().right > room + 1 && !held(e))
    .map(e => `${e.tagName}.${e.className}`.slice(0, 80)).slice(-3).concat('the page');
}"""


@contextlib.contextmanager
def served(folder):
    """Serve a folder on this machine; yields the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            if self.path == "/favicon.ico":  # asked for by the page that only leads on
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Visit:
    """What one page did: each list is empty for a page as it should be."""

    place: str
    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    light: list[str] = field(default_factory=list)
    dark: list[str] = field(default_factory=list)
    wider: list[str] = field(default_factory=list)


def listen(page, home, errors, elsewhere):
    """Note what a page reports as wrong, and what it asks of other hosts; return what ends that."""

    def asked(request):
        if not request.url.startswith((home, "data:", "blob:")):
            elsewhere.append(request.url)

    def failed(request):
        if request.failure != "net::ERR_ABORTED":  # the page was left before it came
            errors.append(f"{request.url} {request.failure}")

    told = {
        "request": asked,
        "requestfailed": failed,
        "pageerror": lambda error: errors.append(str(error)),
        "console": lambda said: errors.append(said.text) if said.type == "error" else None,
    }
    for event, note in told.items():
        page.on(event, note)

    def end():
        for event, note in told.items():
            page.remove_listener(event, note)

    return end


async def violations(page, *rules, within):
    """Return axe-core's serious and critical findings, of these rules or of all."""
    options = {"resultTypes": ["violations"], "preload": False, "iframes": False}
    if rules:
        options["runOnly"] = list(rules)
    found = (await AXE.run(page, context=within, options=options)).response
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))}: {node['html'][:120]}"
        for rule in found["violations"]
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]


async def visit(page, home, place):
    """Return what one page does: wide and light, then as narrow as a phone and dark."""
    seen = Visit(place)
    end = listen(page, home, seen.errors, seen.elsewhere)
    await page.set_viewport_size(DESKTOP)
    await page.goto(f"{home}/{place}", wait_until="load")
    within, kind = "html" if place in WHOLE else "main", place in KINDS
    seen.light = await violations(page, *(() if kind else WRITTEN), within=within)
    await page.set_viewport_size(PHONE)
    await page.evaluate("document.documentElement.dataset.theme = 'dark'")
    seen.wider = await page.evaluate(WIDER)
    if kind:
        rules = "color-contrast", "scrollable-region-focusable"
        seen.dark = await violations(page, *rules, within=within)
    end()
    return seen


async def visits(browser, home, places):
    """Visit all places, a few tabs at a time."""
    left, seen = list(places), []

    async def tab():
        # Without movement: what fades in has too little contrast until it is there.
        context = await browser.new_context(reduced_motion="reduce", color_scheme="light")
        context.set_default_timeout(120_000)  # ms: a busy machine is no fault of the page
        page = await context.new_page()  # each new one would start a window of Chromium
        while left:
            seen.append(await visit(page, home, left.pop(0)))
        await context.close()

    await asyncio.gather(*(tab() for _ in range(TABS)))
    return seen


@contextlib.asynccontextmanager
async def opened():
    """Start the system's Chromium; yields playwright's browser."""
    # Inside a container root has no sandbox, and /dev/shm is small.
    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=browser(), args=flags)
        try:
            yield started
        finally:
            await started.close()


def named(path):
    """Return the names in a page, and what it links to or loads."""
    text = re.sub(r"(<script[^>]*>).*?</script>", r"\1", path.read_text("utf-8"), flags=re.DOTALL)
    found = {"id": [], "name": [], "href": [], "src": []}
    for name, value in re.findall(r'\s(id|name|href|src)="([^"]+)"', text):
        found[name].append(html.unescape(value))
    return {*found["id"], *found["name"]}, [*found["href"], *found["src"]]


def broken(site):
    """Return each link inside a site that leads nowhere: page, link and what is missing."""
    site = site.resolve()
    found = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    known, wrong = {path: named(path) for path in found}, []
    for path, (_, links) in known.items():
        for link in dict.fromkeys(links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there, _ = known.get(target, (None, None))
            if not target.is_file():
                wrong.append(f"{path.name}: {link}: no such file")
            elif parts.fragment and there and unquote(parts.fragment) not in there:
                wrong.append(f"{path.name}: {link}: no such anchor")
    return wrong
