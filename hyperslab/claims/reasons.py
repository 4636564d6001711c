"""Every sentence that a verdict may say, as templates that are filled from numbers."""

from .bands import HOLDS, INCONCLUSIVE, OBSOLETE, REFUTED, REVERSED, STRONGER, WEAKER

SENTENCES = {
    # what came out
    "outcome": "{whose} {outcome}.",
    "slight": "{whose} {outcome}: hardly any difference is left.",
    "in part": "The claim holds in part: {parts} came out otherwise.",
    "not in all": "The claim {outcome}, in part: {parts} held.",
    "void": "These times are void: {why}.",
    "few": "Too few blocks for an interval: {blocks}, at least {enough} are needed.",
    "marked": "Marked: {marks}.",
    "not measured": "Not measured: {why}.",
    "no records": "no records yet: `hyperslab run {notebook}` measures it",
    # the number
    "against": "The ratio is {ours}; the document's is {document}.",
    "ratio": "The ratio is {ours}.",
    "interval": "The interval is {low} to {high}.",
    "other way": "{compared} within blocks, which decides; the medians over all blocks lie the "
    "other way",
    "works": "it works",
    "some work": "{share} work",
    "fails": "it fails",
    # the run
    "apart": "the A/A pair of {name} is {off} apart",
    "guard": "it was judged by an interval that is wider by {share} at both ends",
    "wide": "the ratio of the A/A pair of {name} is known no better than [{low}, {high}]",
    "others": "other programs took {share} of the CPU",
    "others unknown": "this system does not count what other programs took of the CPU",
    "no pair": "{name} has no A/A pair",
    "otherwise": "measured otherwise than it would be now: {differs}",
    # rules
    "effect": "effect: holds between {low} and {high} (half to twice the logarithm of the "
    "document's {document}, and at most a factor of 4 from it), weaker towards 1, stronger "
    "beyond, reversed from 5 % on the other side of 1",
    "bound": "effect: holds {beyond} (the document says more than {document}), weaker towards 1, "
    "reversed from 5 % on the other side of 1",
    "direction above": "direction: holds above {high}, reversed below {low}, weaker in between "
    "(no difference)",
    "direction below": "direction: holds below {low}, reversed above {high}, weaker in between "
    "(no difference)",
    "equality": "equality: holds when the whole interval lies between {low} and {high}, refuted "
    "outside",
    "count": "bounds: holds {span}, else refuted",
    "calibration": "calibration: holds when the worst cell deviates by at most {tolerance}, else "
    "refuted",
    "obsolete": "obsolete: holds {span}, else obsolete",
    "impossible": "obsolete: holds while it is impossible, obsolete once it can be done",
    "at": "at {low}",
    "from": "from {low}",
    "up to": "up to {high}",
    "from to": "from {low} to {high}",
}
OUTCOMES = {
    HOLDS: "holds",
    STRONGER: "is stronger than stated",
    WEAKER: "is weaker than stated",
    REVERSED: "is reversed",
    REFUTED: "is refuted",
    OBSOLETE: "is obsolete: the software that is installed does otherwise",
    INCONCLUSIVE: "stays open: the interval crosses a threshold of the rule",
}
WHOSE = {True: "The claim", False: "This part"}
"""Of the headline, and of another part."""
