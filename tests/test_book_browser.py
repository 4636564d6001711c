"""The built book as a reader meets it: links that lead somewhere, and pages in a browser.

HYPERSLAB_HTML=build/html looks at a book that is there, and builds none; HYPERSLAB_CI=1, as in
.ci/run, at all pages and not at one of each kind.
"""

import asyncio
import contextlib
import functools
import http.server
import os
import re
import threading
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import async_playwright

from hyperslab.study import pdf
from hyperslab.study.book import RenderError

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
TABS = 2
# One page of each kind, for all rules and for colours in the dark: the styles are the same on all.
KINDS = (
    "book/index.html", "book/chunks.html", "book/machine.html", "book/documents/chilan.html",
    "book/glossary.html", "book/api/network.html", "notebooks/claims.html",
    "notebooks/explorer.html", "notebooks/lee_access.html", "notebooks/your_file.html",
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
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


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


async def visits(chromium, home, places):
    """Visit all places, a few tabs at a time."""
    left, seen = list(places), []

    async def tab():
        # Without movement: what fades in has too little contrast until it is there.
        context = await chromium.new_context(reduced_motion="reduce", color_scheme="light")
        context.set_default_timeout(120_000)  # ms: a busy machine is no fault of the page
        page = await context.new_page()  # each new one would start a window of Chromium
        while left:
            seen.append(await visit(page, home, left.pop(0)))
        await context.close()

    await asyncio.gather(*(tab() for _ in range(TABS)))
    return seen


@contextlib.asynccontextmanager
async def opened():
    """Start the system's Chromium; yields playwright's."""
    # Inside a container root has no sandbox, and /dev/shm is small.
    flags = ["--no-sandbox", "--disable-dev-shm-usage"]
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=pdf.browser(), args=flags)
        try:
            yield started
        finally:
            await started.close()


def named(path):
    """Return the names in a page, and what it links to or loads."""
    text = re.sub(r"(<script[^>]*>).*?</script>", r"\1", path.read_text("utf-8"), flags=re.DOTALL)
    found = {"id": [], "name": [], "href": [], "src": []}
    for name, value in re.findall(r'\s(id|name|href|src)="([^"]+)"', text):
        found[name].append(unescape(value))
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


@pytest.fixture(scope="module")
def html(request):
    """The folder of a rendered book."""
    given = os.environ.get("HYPERSLAB_HTML")
    return Path(given).resolve() if given else request.getfixturevalue("book")


@pytest.fixture(scope="module")
def browser():
    """What runs coroutines, and Chromium, which is started once."""
    try:
        pdf.browser()
    except RenderError as error:  # which says what installs it
        (pytest.fail if os.environ.get("HYPERSLAB_CI") else pytest.skip)(str(error))
    with asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()
        yield runner, runner.run(stack.enter_async_context(opened()))
        runner.run(stack.aclose())


@pytest.fixture(scope="module")
def home(browser, html):
    with served(html) as address:
        yield address


@pytest.fixture(scope="module")
def use(browser, home):
    """Runs a coroutine function with a page of the book's start, and nothing wrong on the way."""
    runner, chromium = browser

    async def run(script):
        errors, elsewhere = [], []
        page = await chromium.new_page(viewport=DESKTOP, color_scheme="light")
        listen(page, home, errors, elsewhere)
        await page.goto(f"{home}/index.html")
        await page.wait_for_url("**/book/index.html")
        result = await script(page)
        await page.close()
        assert (errors, elsewhere) == ([], [])
        return result

    return lambda script: runner.run(run(script))


@pytest.fixture(scope="module")
def seen(browser, home, html):
    """What each page did."""
    places = [str(path.relative_to(html)) for path in html.rglob("*.html")]
    places = [place for place in places if not place.startswith("_static/")]
    places.remove("index.html")  # it only leads on
    assert len(places) > 40 and set(KINDS) <= set(places)
    if not os.environ.get("HYPERSLAB_CI"):
        places = list(KINDS)
    runner, chromium = browser
    found = runner.run(visits(chromium, home, places))
    assert sorted(visit.place for visit in found) == sorted(places)
    return found


def test_every_link_and_anchor_leads_somewhere(html):
    assert broken(html) == []


@pytest.mark.parametrize("kind", ["errors", "elsewhere", "light", "dark", "wider"])
def test_pages_work_ask_no_other_host_can_be_read_by_all_and_fit_a_phone(seen, kind):
    assert [f"{visit.place}: {text}" for visit in seen for text in getattr(visit, kind)] == []


def test_the_search_has_answers_first_and_the_python_api_last(home, use):
    async def script(page):
        await page.goto(f"{home}/search.html?q=chunk size")
        links = page.locator("#search-results li > a")
        await links.first.wait_for()
        return await links.evaluate_all("all => all.map(each => each.getAttribute('href'))")

    first = use(script)[:3]
    assert any(place.startswith("book/chunks") for place in first), first
    assert not any(place.startswith("book/api") for place in first), first


def test_the_theme_switch_changes_page_and_figures(home, use):
    async def script(page):
        await page.goto(f"{home}/notebooks/lee_chunk_size.html")
        found = []
        for _ in range(3):
            theme = await page.evaluate("document.documentElement.dataset.theme")
            light, dark = (page.locator(f"img.only-{x}").first for x in ("light", "dark"))
            found.append((theme, await light.is_visible(), await dark.is_visible()))
            await page.locator(".theme-switch-button").first.click()
        return found

    assert set(use(script)) == {("light", True, False), ("dark", False, True)}


def test_the_board_is_filtered_and_its_address_keeps_that(home, use):
    async def script(page):
        shown = page.locator(".board tbody tr:visible")
        counts = [await shown.count()]
        await page.locator(".board-filter select[name=topic]").select_option("Remote")
        counts.append(await shown.count())
        await page.locator(".board-filter input").fill("s3")
        await page.reload()
        counts.append(await shown.count())
        await page.locator(".board-filter input").fill("no such claim")
        return [*counts, await shown.count(), await page.locator(".board-topic:visible").count()]

    all_of_them, remote, s3, none, topics = use(script)
    assert all_of_them > remote > s3 > none == topics == 0


def test_the_explorer_searches_and_sorts(home, use):
    async def script(page):
        await page.goto(f"{home}/notebooks/explorer.html")
        search = page.locator("#dt-search-0")
        rows = page.locator("#explorer-samples tbody tr")
        await rows.nth(5).wait_for()
        await search.fill("penard subchunk no-such-thing")
        await page.get_by_text("No matching records").wait_for()
        await search.fill("series")
        await rows.nth(5).wait_for()
        await page.get_by_role("button", name="Columns").click()
        entry = page.locator(".dt-button-collection .buttons-columnVisibility", has_text="requests")
        await entry.click()
        await page.keyboard.press("Escape")
        columns = []
        heads = await page.locator(".dt-scroll-head thead th").all_inner_texts()
        for name in ("time, ms", "requests"):
            number = [head.strip() for head in heads].index(name) + 1
            head = f".dt-scroll-head thead th:nth-child({number})"
            await page.locator(head).click()
            await page.locator(f"{head}[aria-sort]").wait_for()
            cells = page.locator(f"#explorer-samples tbody tr td:nth-child({number})")
            columns.append(await cells.all_inner_texts())
        return columns

    times, requests = (
        [float(text.replace(",", "") or -1) for text in column] for column in use(script)
    )
    times = [value for value in times if value >= 0]
    assert len(times) > 5 and times == sorted(times)
    assert requests == sorted(requests, reverse=True), "what was not counted comes last"
