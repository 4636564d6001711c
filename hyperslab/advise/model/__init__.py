"""How long a read takes, predicted from what it touches and what this machine was measured to do."""

from .calibrate import calibrate
from .calibration import Calibration
from .errors import (
    NoCalibrationError,
    StaleCalibrationError,
    UncalibratedError,
    UnknownCodecError,
    UnknownLibraryError,
)
from .geometry import Geometry, geometry
from .predict import Prediction, predict
from .probe import CodecSample, measure_codec, probe
from .read import Read
from .reading import Reading

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
