"""CF-1.11 metadata of the synthetic datasets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from data_gen.radar import NO_COVERAGE, NO_ECHO, SCALE
from hyperslab.io import Variable

CONVENTIONS = "CF-1.11"
EPOCH = "hours since 2025-01-15 00:00:00"
PENARD = "Penard, Gouillon, Delaunay, Herledan (2025), section 4, Table 1"
LEE = "Lee, Yang, Aydt (2008), Performance of NetCDF-4"

# name: units, standard name (empty where CF has none), what it is
RADAR: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "cref": ("dBZ", "equivalent_reflectivity_factor", "composite reflectivity"),
        "hcref": ("km", "", "height of composite reflectivity above ground"),
        "lcref": ("dBZ", "equivalent_reflectivity_factor", "low-level composite reflectivity"),
        "hsr": ("dBZ", "equivalent_reflectivity_factor", "hybrid scan reflectivity"),
        "etop18": ("km", "", "height of the 18 dBZ echo top"),
        "etop30": ("km", "", "height of the 30 dBZ echo top"),
        "vil": ("kg m-2", "", "vertically integrated liquid"),
        "vild": ("g m-3", "", "density of vertically integrated liquid"),
        "shi": ("J m-1 s-1", "", "severe hail index"),
        "posh": ("percent", "", "probability of severe hail"),
        "mehs": ("mm", "", "maximum expected hail size"),
        "rate": ("mm h-1", "rainfall_rate", "rain rate"),
    }
)


@dataclass(frozen=True)
class Description:
    """Everything of a dataset but its values.

    Parameters
    ----------
    variables : tuple of Variable
    coordinates : mapping of name to (Variable, values)
    attrs : mapping
        Attributes of the whole.
    """

    variables: tuple[Variable, ...]
    coordinates: Mapping[str, tuple[Variable, np.ndarray]] = field(default_factory=dict)
    attrs: Mapping[str, object] = field(default_factory=dict)


def axis(
    name: str, values: np.ndarray, letter: str, **attrs: object
) -> tuple[Variable, np.ndarray]:
    """Return a coordinate variable with its values.

    Examples
    --------
    >>> axis("lat", np.zeros(3, "f4"), "Y", units="degrees_north")[0].attrs["axis"]
    'Y'
    """
    named = {**attrs, "axis": letter}
    return Variable(name, (name,), values.shape, values.dtype.str[1:], named), values


def latitude(name: str, values: np.ndarray) -> tuple[Variable, np.ndarray]:
    """Return a latitude coordinate, degrees north."""
    return axis(
        name, values, "Y", standard_name="latitude", long_name="latitude", units="degrees_north"
    )


def longitude(name: str, values: np.ndarray) -> tuple[Variable, np.ndarray]:
    """Return a longitude coordinate, degrees east."""
    return axis(
        name, values, "X", standard_name="longitude", long_name="longitude", units="degrees_east"
    )


def time(steps: int, step_s: float) -> tuple[Variable, np.ndarray]:
    """Return a time coordinate of equal steps.

    Examples
    --------
    >>> time(3, 3600.0)[1].tolist()
    [0.0, 1.0, 2.0]
    """
    hours = np.arange(steps) * (step_s / 3600)
    return axis(
        "time",
        hours,
        "T",
        standard_name="time",
        long_name="valid time",
        units=EPOCH,
        calendar="standard",
    )


def whole(title: str, references: str, seed: int, version: str) -> dict[str, object]:
    """Return the attributes of a whole dataset: reproducible, so without dates or paths."""
    return {
        "Conventions": CONVENTIONS,
        "title": title,
        "institution": "none: no instrument or model made these values",
        "source": f"synthetic: random fields with prescribed spectra, seed {seed}",
        "history": f"drawn by data_gen {version}",
        "references": references,
        "comment": "Made to compress as the originals do; not for use as observations.",
    }


def ocean(
    lat: np.ndarray, lon: np.ndarray, steps: int, step_s: float, fill: float, **about: object
) -> Description:
    """Return the metadata of the surface currents, as CMEMS files have it."""
    variables = tuple(
        Variable(
            name,
            ("time", "lat", "lon"),
            (steps, lat.size, lon.size),
            "f4",
            {
                "standard_name": f"{way}_sea_water_velocity",
                "long_name": f"{way} velocity",
                "units": "m s-1",
                "cell_methods": "time: point area: mean",
                "coordinates": "depth",
            },
            fill_value=fill,
        )
        for name, way in (("uo", "eastward"), ("vo", "northward"))
    )
    depth = Variable(
        "depth",
        (),
        (),
        "f4",
        {
            "standard_name": "depth",
            "long_name": "depth",
            "units": "m",
            "positive": "down",
            "axis": "Z",
        },
    )
    coordinates = {
        "time": time(steps, step_s),
        "lat": latitude("lat", lat),
        "lon": longitude("lon", lon),
        "depth": (depth, np.array(1.0182366, "f4")),
    }
    title = "Synthetic hourly surface currents of the Mediterranean and the nearby Atlantic"
    return Description(variables, coordinates, whole(title, PENARD, **about))  # type: ignore[arg-type]


def gfs(
    levels: np.ndarray,
    lat: np.ndarray,
    lon: np.ndarray,
    steps: int,
    step_s: float,
    **about: object,
) -> Description:
    """Return the metadata of the temperature on pressure levels, as GFS files have it."""
    temperature = Variable(
        "air_temperature",
        ("time", "isobaricInhPa", "latitude", "longitude"),
        (steps, levels.size, lat.size, lon.size),
        "f4",
        {
            "standard_name": "air_temperature",
            "long_name": "air temperature",
            "units": "K",
            "cell_methods": "time: point",
        },
        fill_value=float(np.float32(9.96921e36)),
    )
    pressure = axis(
        "isobaricInhPa",
        levels,
        "Z",
        standard_name="air_pressure",
        long_name="pressure",
        units="hPa",
        positive="down",
    )
    coordinates = {
        "time": time(steps, step_s),
        "isobaricInhPa": pressure,
        "latitude": latitude("latitude", lat),
        "longitude": longitude("longitude", lon),
    }
    title = "Synthetic hourly global air temperature on pressure levels"
    return Description((temperature,), coordinates, whole(title, PENARD, **about))  # type: ignore[arg-type]


def radar(lat: np.ndarray, lon: np.ndarray, tile: str, **about: object) -> Description:
    """Return the metadata of a radar mosaic tile: packed int16, no echo below ``valid_min``."""
    variables = []
    for name, (units, standard_name, long_name) in RADAR.items():
        attrs: dict[str, object] = {"long_name": long_name, "units": units}
        if standard_name:
            attrs["standard_name"] = standard_name
        if SCALE[name] != 1:
            attrs["scale_factor"] = 1 / SCALE[name]
        attrs |= {
            "valid_min": np.int16(0),
            "comment": f"stored values: {NO_ECHO} no echo, {NO_COVERAGE} no radar",
            "cell_methods": "time: point",
            "coordinates": "time",
        }
        shape = (lat.size, lon.size)
        variables.append(Variable(name, ("lat", "lon"), shape, "i2", attrs, NO_COVERAGE))
    moment = Variable(
        "time", (), (), "f8", {"standard_name": "time", "units": EPOCH, "calendar": "standard"}
    )
    coordinates = {
        "lat": latitude("lat", lat.astype("f4")),
        "lon": longitude("lon", lon.astype("f4")),
        "time": (moment, np.zeros((), "f8")),
    }
    title = f"Synthetic radar mosaic, {tile}"
    reference = f"{LEE}, section 4.2, Table 5"
    return Description(tuple(variables), coordinates, whole(title, reference, **about))  # type: ignore[arg-type]


def array(shape: tuple[int, ...], dtype: str, version: str) -> Description:
    """Return the metadata of an array of counted values."""
    dims = tuple(f"dim{i}" for i in range(len(shape)))
    attrs = {"long_name": "flat index of the element", "units": "1"}
    head = whole("Array of counted values", f"{LEE}, Table 1", 0, version)
    head["source"] = "synthetic: each element is its own flat index"
    return Description((Variable("values", dims, shape, dtype, attrs),), {}, head)
