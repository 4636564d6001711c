"""A small file of hourly maps, stored for maps, and advice on it that nobody measured."""

from dataclasses import replace

import numpy as np

from hyperslab.io import Layout, Variable, create
from hyperslab.text import Interval
from hyperslab.tune.advice.costs import ROUGH
from hyperslab.tune.advice.question import Question, subject_of
from hyperslab.tune.advice.rank import advise

SHAPE = (48, 60, 90)
LAYOUT = Layout("netcdf4", (1, 60, 90), "deflate", 4, shuffle=True)


def maps(path, layout=LAYOUT, shape=SHAPE):
    """Temperatures with coordinates, a twin of the same dimensions, and a scalar."""
    steps, rows, columns = shape
    plain = Layout(layout.format)
    variables = [
        Variable("time", ("time",), (steps,), "f8", {"units": "hours since 2000-01-01"}),
        Variable("lat", ("lat",), (rows,), "f4", {"units": "degrees_north"}),
        Variable("lon", ("lon",), (columns,), "f4", {"units": "degrees_east"}),
        Variable("sst", ("time", "lat", "lon"), shape, "f4", {"units": "K"}, -999.0),
        Variable("ice", ("time", "lat", "lon"), shape, "f4", {"units": "1"}),
        Variable("mask", ("lat", "lon"), (rows, columns), "i2"),
    ]
    layouts = {v.name: layout if len(v.shape) == 3 else plain for v in variables}
    rng = np.random.default_rng(3)
    with create(path, variables, layouts) as writer:
        writer.write("time", ..., np.arange(steps, dtype="f8"))
        writer.write("lat", ..., np.linspace(-90, 90, rows, dtype="f4"))
        writer.write("lon", ..., np.linspace(0, 359, columns, dtype="f4"))
        writer.write("mask", ..., rng.integers(0, 2, (rows, columns)).astype("i2"))
        waves = np.sin(np.arange(columns) / 9) + np.arange(rows)[:, None] / 20
        for name in ("sst", "ice"):
            values = waves + rng.normal(0, 0.1, shape).round(2)
            writer.write(name, ..., values.astype("f4"))
        writer.close()
    return path


def advice(path, workdir, shares=None, costs=ROUGH, **options):
    """Advice by counts alone, of netCDF-4 layouts."""
    given = {"measured": 0, "formats": ("netcdf4",), **options}
    return advise(subject_of(Question(str(path), shares or {}, workdir=workdir, **given)), costs)


def as_if_measured(advice, gains):
    """The same advice, as if the first rows had been measured with these gains and ±1 %."""
    rows = list(advice.rows)
    for n, gain in enumerate(gains):
        each = {a.name: Interval(1e-3, 0.9e-3, 1.1e-3, 7) for a in advice.subject.accesses}
        between = Interval(gain, 0.99 * gain, 1.01 * gain, 7)
        rows[n] = replace(rows[n], measured=each, measured_gain=between)
    return replace(advice, rows=tuple(rows))
