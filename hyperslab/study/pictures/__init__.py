"""Pictures that are no comparison: where bytes lie, who wins over which link, fields on maps."""

from .choices import BreakEven as BreakEven
from .choices import Cloud as Cloud
from .choices import Cover as Cover
from .choices import Predicted as Predicted
from .choices import Tradeoff as Tradeoff
from .fields import Map as Map
from .fields import Maps as Maps
from .files import ColumnInFile as ColumnInFile
from .files import DecodedBytes as DecodedBytes
from .files import PointsInChunk as PointsInChunk
from .files import SentBytes as SentBytes
from .files import Successive as Successive
from .forest import Forest as Forest
from .links import MapOfLinks as MapOfLinks
from .links import Remedies as Remedies
