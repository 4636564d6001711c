"""Find parameters that papermill passed and a notebook does not have."""

import ast
from collections.abc import Sequence

_MARK = "# Parameters"  # the first line of the cell that papermill injects


def check_injected(cells: Sequence[str] | None = None) -> None:
    """Raise an error for unknown parameters; papermill itself only warns of them.

    Parameters
    ----------
    cells : sequence of str
        The code cells that have run; those of the running notebook by default.

    Raises
    ------
    ValueError
        Naming what is unknown, and what there is.

    Examples
    --------
    >>> check_injected(["seed: int = 0", "# Parameters\\nsede = 3"])
    Traceback (most recent call last):
    ...
    ValueError: the notebook has no parameters sede: it has seed
    """
    cells = _running() if cells is None else cells
    known: list[str] = []
    for cell in cells:
        if cell.startswith(_MARK):
            if unknown := [name for name in _assigned(cell) if name not in known]:
                raise ValueError(
                    f"the notebook has no parameters {', '.join(unknown)}: "
                    f"it has {', '.join(known)}"
                )
        else:
            known += _assigned(cell)


def _running() -> Sequence[str]:
    try:
        from IPython import get_ipython
    except ImportError:
        return ()
    shell = get_ipython()
    return [] if shell is None else list(shell.user_ns.get("In", ()))


def _assigned(cell: str) -> list[str]:
    try:
        body = ast.parse(cell).body
    except SyntaxError:  # a cell with magics: it declares no parameters
        return []
    names = []
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names
