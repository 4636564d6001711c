"""Which tests a worker gets next: what needs the whole run and its book, once these are there."""

from xdist.scheduler import LoadScopeScheduling

MAKES = "tests/test_whole.py"  # its first test is over when the book is rendered
NEEDS = ("tests/test_whole_drawn.py", "tests/test_book_browser.py")


class Turns(LoadScopeScheduling):
    """Files of tests in their order, but for those that would wait for another worker's run.

    They come as soon as the book is there, so that they are not what a worker is left with at the
    end; before, only when nothing else is left to do.
    """

    def _assign_work_unit(self, node):
        there = any(done for work in self.assigned_work.values() for done in made(work))
        for name in filter(self.workqueue.__contains__, NEEDS):
            self.workqueue.move_to_end(name, last=not there)
        super()._assign_work_unit(node)


def made(work):
    """Say of each test that makes the run whether it is over."""
    return work.get(MAKES, {}).values()
