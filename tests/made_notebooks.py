"""Executed notebooks, made up."""

import json

LANGUAGE = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def code(source, *outputs, tags=(), **metadata):
    """A cell of code with its outputs."""
    return {
        "cell_type": "code", "execution_count": 1, "source": source, "outputs": list(outputs),
        "metadata": {"tags": list(tags), **metadata},
    }  # fmt: skip


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": [text]}


def error(name):
    return {"output_type": "error", "ename": name, "evalue": "", "traceback": []}


def notebook(*cells, title="", **metadata):
    """The text of a notebook, with a title if one is given."""
    head = {"cell_type": "markdown", "metadata": {}, "source": title}
    whole = [head, *cells] if title else cells
    listed = [{**cell, "id": f"c{number}"} for number, cell in enumerate(whole)]
    about = {**LANGUAGE, **metadata}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": listed})
