"""The built book as a reader meets it: links that lead somewhere, and pages in a browser.

HYPERSLAB_HTML=build/html looks at a book that is there, and builds none.
"""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path

import book_visit
import pytest

from hyperslab.study import pdf
from hyperslab.study.book import RenderError


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
        stack = AsyncExitStack()
        yield runner, runner.run(stack.enter_async_context(book_visit.opened()))
        runner.run(stack.aclose())


@pytest.fixture(scope="module")
def home(browser, html):
    with book_visit.served(html) as address:
        yield address


@pytest.fixture(scope="module")
def use(browser, home):
    """Runs a coroutine function with a page of the book's start, and nothing wrong on the way."""
    runner, chromium = browser

    async def run(script):
        errors, elsewhere = [], []
        page = await chromium.new_page(viewport=book_visit.DESKTOP, color_scheme="light")
        book_visit.listen(page, home, errors, elsewhere)
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
    assert len(places) > 40 and set(book_visit.KINDS) <= set(places)
    runner, chromium = browser
    found = runner.run(book_visit.visits(chromium, home, places))
    assert sorted(visit.place for visit in found) == sorted(places)
    return found


def test_every_link_and_anchor_leads_somewhere(html):
    assert book_visit.broken(html) == []


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
