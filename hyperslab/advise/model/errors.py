"""What the cost model says when it cannot tell."""


class UncalibratedError(ValueError):
    """Something was asked of the model that no calibration has measured."""


class UnknownCodecError(UncalibratedError):
    """The codec was not calibrated for that library, or cannot be."""


class UnknownLibraryError(UncalibratedError):
    """The library was not calibrated."""


class NoCalibrationError(OSError):
    """There is no calibration of this machine."""


class StaleCalibrationError(NoCalibrationError):
    """There is one, of other libraries, another processor, or of long ago."""
