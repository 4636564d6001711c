"""Executed notebooks, and other files of a book, made up."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

LANGUAGE = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def code(source, *outputs, tags=()):
    """A cell of code with its outputs."""
    outputs = [nbformat.from_dict(output) for output in outputs]
    return new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def notebook(*cells, title="", **metadata):
    """The text of a notebook, with a title if one is given."""
    whole = [new_markdown_cell(title), *cells] if title else cells
    for number, cell in enumerate(whole):
        cell["id"] = f"c{number}"  # else one by chance, and the notebook differs from its twin
    return nbformat.writes(new_notebook(cells=list(whole), metadata=LANGUAGE | metadata))


def written(folder, files):
    """Write files: their places, and what stands there."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
