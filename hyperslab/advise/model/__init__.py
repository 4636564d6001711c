"""How long a read takes: predicted from what it touches, and from what this machine does."""

from .calibration import Calibration
from .errors import (
    NoCalibrationError,
    StaleCalibrationError,
    UncalibratedError,
    UnknownCodecError,
    UnknownLibraryError,
)
from .geometry import Geometry, geometry
from .measured.calibrate import calibrate
from .measured.reading import Reading
from .predict import Prediction, predict
from .probe import CodecSample, measure_codec, probe
from .read import Read

__all__ = [
    "Calibration",
    "CodecSample",
    "Geometry",
    "NoCalibrationError",
    "Prediction",
    "Read",
    "Reading",
    "StaleCalibrationError",
    "UncalibratedError",
    "UnknownCodecError",
    "UnknownLibraryError",
    "calibrate",
    "geometry",
    "measure_codec",
    "predict",
    "probe",
]
