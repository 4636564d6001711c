"""What predicts times: the cost model, calibrated on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.read import Read
from .price import Predictor, Rough

if TYPE_CHECKING:
    from ..model.calibration import Calibration


@dataclass(frozen=True)
class Modelled:
    """Seconds by the cost model with this machine's calibration."""

    calibration: Calibration
    name: str = "the cost model of this machine"

    def seconds(self, read: Read) -> float:
        """Return predicted seconds.

        Raises
        ------
        UncalibratedError
            When the library or codec was not calibrated.
        """
        from ..model.predict import predict

        return float(predict(read, self.calibration).seconds)


def predictor(
    *, rough: bool = False, again: bool = False, say: Callable[[str], None] | None = None
) -> Predictor:
    """Return what predicts times here; the machine is calibrated where it is not yet.

    Parameters
    ----------
    rough
        Take typical costs, without a calibration.
    again
        Calibrate anew.
    say
        Is told that and why a calibration is made.

    Examples
    --------
    >>> predictor(rough=True).name
    'counts with typical costs'
    """
    if rough:
        return Rough()
    from ..model.calibrate import calibrate
    from ..model.calibration import Calibration
    from ..model.errors import NoCalibrationError

    why = "asked for"
    if not again:
        try:
            return Modelled(Calibration.load())
        except NoCalibrationError as error:
            why = str(error)
    if say:
        say(f"calibrating the cost model of this machine, in under two minutes ({why})")
    made = calibrate(progress=say is not None)
    place = made.save()
    if say:
        say(f"calibrated: {place}")
    return Modelled(made)
