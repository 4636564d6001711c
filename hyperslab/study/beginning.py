"""How a notebook begins its run: parameters checked, settings of the profile, what has changed."""

from ..text import data
from . import provenance
from .profile import check_profile, drawn_between, entry, require_writable, root
from .session import Session


def begin(
    notebook: str,
    *,
    profile: str = "quick",
    workdir: str = "build/adhoc",
    records: str = "",
    seed: int = 0,
    repeats: int = 0,
    **settings: object,
) -> Session:
    """Begin a notebook's run.

    Parameters
    ----------
    notebook : str
        Its name in notebooks/study.yml.
    profile : str
        smoke, quick, full or paper.
    workdir : str
        Where data and results go; relative to the repository.
    records : str
        A folder of records to draw from; empty to measure.
    seed : int
        Of the order of the samples.
    repeats : int
        Interleaved blocks; 0 for the profile's.
    **settings
        Other numbers that take the place of the profile's, or texts such as a folder, of which
        records keep a hash alone.

    Raises
    ------
    ValueError
        For an unknown profile or notebook, a negative number, a folder without records, one with
        records of another machine, or a work directory that cannot be written.
    """
    check_profile(profile)
    for name, text in {"workdir": workdir, "records": records}.items():
        if not isinstance(text, str):
            raise ValueError(f"{name} is {text!r}: give the name of a folder")
    for name, value in {"repeats": repeats, "seed": seed, **settings}.items():
        words = isinstance(value, str) and name not in ("repeats", "seed")
        if not words and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            more = "" if name == "seed" else ", 0 for the profile's"
            raise ValueError(f"{name} is {value!r}: give a whole number from 0{more}")
    top = root()
    known = entry(notebook, top)
    place = (top / workdir).resolve()
    require_writable(place, workdir)
    _, folder = drawn_between(profile, workdir, records)
    drawn_from = folder if records or known.settings[profile].get("draws") else None
    mine = {name: value for name, value in settings.items() if value}
    chosen = {**known.settings[profile], **mine}
    given: dict[str, object] = {"profile": profile, "repeats": repeats, "seed": seed}
    given |= {name: provenance.hashed(text) for name, text in mine.items() if isinstance(text, str)}
    experiment = provenance.experiment(top / f"notebooks/{notebook}.ipynb", chosen, **given)
    session = Session(notebook, profile, place, drawn_from, seed, repeats, chosen, experiment)
    if session.differs:
        from . import show

        said = "These records were measured otherwise than they would be now"
        box = show.admonition("Measured by something else", f"{said}: {data(session.differs)}.")
        show.text(box)
    return session
