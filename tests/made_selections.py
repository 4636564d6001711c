"""Shapes, and selections of them, that hypothesis draws."""

from hypothesis import strategies as st


def lengths(shape):
    """A length along each axis that is no longer than it."""
    return st.tuples(*(st.integers(1, n) for n in shape))


@st.composite
def selections(draw, most):
    """A shape of one to three axes of at most so many elements, and an index or slice of each."""
    shape = tuple(draw(st.integers(1, most)) for _ in range(draw(st.integers(1, 3))))
    selection = []
    for n in shape:
        start = draw(st.integers(0, n - 1))
        if draw(st.booleans()):
            selection.append(start)
        else:
            selection.append(slice(start, draw(st.integers(start + 1, n)), draw(st.integers(1, 3))))
    return shape, tuple(selection)
