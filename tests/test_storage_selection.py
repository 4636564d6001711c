"""The named access patterns select what their names say."""

import numpy as np
import pytest

from hyperslab import storage

CUBE = np.arange(3 * 4 * 5 * 6).reshape(3, 4, 5, 6)
GRID = np.arange(20).reshape(4, 5)


def test_patterns_of_a_grid():
    assert np.array_equal(GRID[storage.whole(GRID.shape)], GRID)
    assert np.array_equal(GRID[storage.row(GRID.shape, 2)], GRID[2])
    assert np.array_equal(GRID[storage.column(GRID.shape, -1)], GRID[:, 4])
    assert np.array_equal(GRID[storage.frame(GRID.shape)], GRID)
    assert np.array_equal(GRID[storage.strided(GRID.shape, (2, 3))], GRID[::2, ::3])
    assert np.array_equal(GRID[storage.box(GRID.shape, (1, 2), (3, 2))], GRID[1:4, 2:4])


def test_patterns_of_four_axes():
    shape = CUBE.shape
    assert np.array_equal(CUBE[storage.series(shape, (2, 3))], CUBE[:, 0, 2, 3])
    assert np.array_equal(CUBE[storage.series(shape, (1, 2, 3))], CUBE[:, 1, 2, 3])
    assert np.array_equal(CUBE[storage.frame(shape, 2)], CUBE[2, 0])
    assert np.array_equal(CUBE[storage.frame(shape, (2, 1))], CUBE[2, 1])
    assert np.array_equal(CUBE[storage.profile(shape, (1, 2, 3))], CUBE[1, :, 2, 3])
    assert np.array_equal(CUBE[storage.profile(shape, (1, 2, 3), axis=0)], CUBE[:, 1, 2, 3])
    assert np.array_equal(CUBE[storage.row(shape, 1)], CUBE[1])
    assert np.array_equal(CUBE[storage.column(shape, 1)], CUBE[..., 1])


def test_random_points_are_inside_and_repeat():
    points = storage.random_points((7, 3), 500, seed=3)
    assert points == storage.random_points((7, 3), 500, seed=3)
    assert points != storage.random_points((7, 3), 500, seed=4)
    assert {i for i, _ in points} == set(range(7))
    assert {j for _, j in points} == set(range(3))
    assert all(type(i) is int for point in points for i in point)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: storage.row((4,), 0), ValueError, r"row: shape \(4,\) has 1 axes"),
        (lambda: storage.row((4, 5), 4), IndexError, "row: index 4 .* axis 0 of size 4"),
        (lambda: storage.column((4, 5), -6), IndexError, "index -6 .* axis 1 of size 5"),
        (lambda: storage.series((4, 5), (1, 2)), ValueError, "point .* has more axes"),
        (lambda: storage.series((4, 5), (5,)), IndexError, "series: index 5"),
        (lambda: storage.frame((4, 5, 6), (1, 2)), ValueError, "index .* has more axes"),
        (lambda: storage.frame((4, 5), 1), ValueError, "index .* has more axes"),
        (lambda: storage.profile((4, 5, 6), (1,)), ValueError, "give 2 indices"),
        (lambda: storage.box((4, 5), (2, 2), (3, 1)), ValueError, "axis 0 of size 4 lies outside"),
        (lambda: storage.box((4, 5), (2,), (3, 1)), ValueError, "one of each for every axis"),
        (lambda: storage.strided((4, 5), (0, 1)), ValueError, "one for each axis, at least 1"),
        (lambda: storage.random_points((0, 5), 1, 0), ValueError, "has no points"),
    ],
)
def test_what_does_not_fit_is_named(make, error, said):
    with pytest.raises(error, match=said):
        make()
