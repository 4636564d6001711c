"""What the repository must hold: clean templates, true names, nothing private, few lines."""

import ast
import json
import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import papermill
import pytest
import yaml

import hyperslab
from hyperslab.text import amount

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def git(*arguments):
    # The checkout may belong to another user, as it does in a container.
    command = ["git", "-c", "safe.directory=*", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def tracked():
    return [ROOT / name for name in git("ls-files", "-z").split("\0") if name]


def test_notebooks_are_clean_templates():
    for path in NOTEBOOKS:
        document = json.loads(path.read_text(encoding="utf-8"))
        about = document["metadata"]
        code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
        assert set(about) <= {"kernelspec", "language_info"}, f"{path.name}: holds another place"
        assert about["kernelspec"]["name"] == "python3", path.name
        for number, cell in enumerate(code):
            tags = set(cell["metadata"].get("tags", []))
            assert not cell["outputs"], f"{path.name}: clear its outputs"
            assert not cell["execution_count"], f"{path.name}: clear its outputs"
            assert ("parameters" in tags) == (number == 0), path.name
            assert tags & {"parameters", "hide-input", "measure"}, path.name


def test_notebooks_are_listed_with_all_profiles_and_have_a_help_for_every_parameter():
    listed = yaml.safe_load((ROOT / "notebooks/study.yml").read_text(encoding="utf-8"))
    profiles = {item["name"]: set(item["profiles"]) for item in listed["notebooks"]}
    assert sorted(profiles) == [path.stem for path in NOTEBOOKS]
    for path in NOTEBOOKS:
        assert profiles[path.stem] == {"smoke", "quick", "full", "paper"}, path.stem
        parameters = papermill.inspect_notebook(str(path))
        assert {"profile", "records", "workdir"} <= set(parameters), path.name
        for name, facts in parameters.items():
            known = facts["inferred_type_name"] != "None" and len(facts["help"]) > 5
            assert known, f"{path.name}: {name}"


def named_files(text):
    """Files a Markdown text names: targets of links, and code that looks like a path of ours."""
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            yield target
    top = {path.relative_to(ROOT).parts[0] for path in tracked()}
    for words in re.findall(r"```.*?```|`[^`\n]+`", text, flags=re.DOTALL):
        for word in re.findall(r"[\w./*<>-]+", words):
            if "/" in word and word.split("/")[0] in top and not set(word) & set("*<>"):
                yield word
    for word in re.findall(r"(?<![\w/.])[\w-]+\.(?:md|toml|lock|txt|cff|yml|ipynb)\b", text):
        if word != "out.ipynb":
            yield word


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "book/paths.md"])
def test_every_file_that_is_named_exists(name):
    named = set(named_files((ROOT / name).read_text(encoding="utf-8")))
    assert named
    places = (ROOT, ROOT / "notebooks", ROOT / "book")
    assert [each for each in sorted(named) if not any((p / each).exists() for p in places)] == []


# Written so that this file does not hold what it looks for.
PRIVATE = re.compile(
    r"""/[r]oot/\w
    |/[h]ome/(?!(?:user|you|ann|jones)\b)\w
    |/[U]sers/(?!(?:user|you|ann|jones)\b)\w
    |/[w]ork/\w+/
    |\.\./[s]hared
    |[p]ypi\.org|[p]ythonhosted|[a]naconda\.(?:org|com)|[n]pmjs\.
    |[i]ndex-url[=\s]https?:""",
    re.VERBOSE,
)


def test_no_file_names_this_machine_or_a_registry_is_large_or_made():
    made = re.compile(r"(^|/)(build|\.venv|__pycache__|\.ipynb_checkpoints)/|\.pyc$")
    found = []
    for path in filter(Path.is_file, tracked()):
        name, data = path.relative_to(ROOT).as_posix(), path.read_bytes()
        assert len(data) <= 1_000_000 and not made.search(name), name
        text = data.decode("utf-8", errors="ignore")
        found += [f"{name}: {hit.group()}" for hit in PRIVATE.finditer(text)]
    assert found == []


def test_workflows_pin_their_actions_may_only_read_and_run_targets_that_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    used = set()
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 60, name
            # Only what publishes may write, and that runs no code of this repository.
            assert "permissions" not in job or not any("run" in step for step in job["steps"]), name
            pinned = [step["uses"] for step in job["steps"] if "uses" in step]
            assert all(re.search(r"@([0-9a-f]{40}|v\d+\.\d+\.\d+)$", one) for one in pinned), name
        used |= set(re.findall(r"\bmake ([a-z]+)\b(?! uses)", text)) - {"uses"}
        assert all((ROOT / one).exists() for one in re.findall(r"notebooks/\w+\.ipynb", text))
    assert {"book", "check", "test"} <= used <= targets


def test_version_title_and_license_are_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    zenodo = json.loads((ROOT / ".zenodo.json").read_text())
    book, source = citation["preferred-citation"], citation["repository-code"]
    assert project["version"] == hyperslab.__version__
    for one in (citation, book, codemeta, zenodo):
        assert one["version"] == project["version"]
        assert one is book or one["keywords"] == project["keywords"]
    assert citation["title"] == book["title"] == zenodo["title"]
    assert codemeta["description"] == project["description"]
    assert citation["license"] == project["license"] == zenodo["license"] == "BSD-3-Clause"
    assert codemeta["license"].endswith("/BSD-3-Clause")
    assert source == codemeta["codeRepository"] == project["urls"]["Source"]
    entry = (ROOT / "book/bibliography.md").read_text(encoding="utf-8")
    for said in (citation["title"], citation["version"], source, book["year"]):
        assert f"{{{said}}}" in entry
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License")
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text()


def test_sent_records_are_checked_by_the_code_of_the_base_branch():
    workflow = yaml.safe_load((ROOT / ".github/workflows/results.yml").read_text())
    steps = workflow["jobs"]["check"]["steps"]
    assert steps[0]["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    lines = "\n".join(step.get("run", "") for step in steps)
    assert "${{" not in lines, "what a pull request says is no part of a command"
    assert "git checkout FETCH_HEAD -- results" in lines
    assert '-m hyperslab results add "results/$name" --name "$name"' in lines


def test_the_readmes_numbers_are_those_of_the_reference():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    judged = json.loads((ROOT / "results/reference/claims.json").read_text(encoding="utf-8"))
    found = {claim["id"]: claim for claim in judged}
    for name in ("lee-5", "lee-1-write", "penard-9b"):
        (head,) = [part for part in found[name]["parts"] if part["headline"]]
        assert f"| {amount(head['document'], '×')} | {head['shown']} |" in text, name


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["book", "PROFILE=smoke"], 'hyperslab run --profile "smoke" ||'),
        (["pdf", "RECORDS=a b"], 'hyperslab run --records "a b" sh'),
        (["book", "PROFILE=full"], 'hyperslab book --profile "full"'),
        (["test"], "-m pytest"),
    ],
)
def test_make_runs_the_documented_command(words, command):
    # What a make that runs these tests was told must not reach this one.
    outer = {"MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "PROFILE", "RECORDS"}
    env = {name: value for name, value in os.environ.items() if name not in outer}
    made = subprocess.check_output(["make", "--dry-run", *words], cwd=ROOT, env=env, text=True)
    assert command in re.sub(r"\s+", " ", made)


BUDGET = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hyperslab"]["lines-of-code"]
BEGIN = {".py": "#", ".c": "//", ".h": "//", ".js": "//", ".html": "<!--"}  # a comment
SLACK = 0.02  # or 100 lines: what is saved is taken from the budget


def lines_of_code(text, suffix):
    """Count the lines that are neither blank, comment nor docstring."""
    if suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        return sum(lines_of_code(cell, ".py") for cell in code)
    lines = text.splitlines()
    if suffix in (".c", ".h", ".js"):
        lines = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).splitlines()
    documented = set()
    for node in ast.walk(ast.parse(text)) if suffix == ".py" else ():
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented.update(range(first.lineno, first.end_lineno + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith(BEGIN[suffix]) and n not in documented
        for n, line in enumerate(lines, 1)
    )


@cache
def parts():
    """Sum the lines by what the budget names: a folder, or a package of hyperslab."""
    sums = dict.fromkeys(BUDGET, 0)
    for path in tracked():
        place = path.relative_to(ROOT)
        if path.suffix not in (*BEGIN, ".ipynb") or place.parts[0] in ("tests", "results"):
            continue
        folders = [parent.as_posix() for parent in (place, *place.parents)]
        part = next((folder for folder in folders if folder in sums), None)
        assert part, f"{place} is in no part of [tool.hyperslab.lines-of-code] in pyproject.toml"
        sums[part] += lines_of_code(path.read_text(encoding="utf-8"), path.suffix)
    return sums


@pytest.mark.parametrize("part", BUDGET)
def test_no_part_is_larger_than_its_budget(part):
    lines = parts()[part]
    assert lines <= BUDGET[part], f"{part} has {lines} lines of code: delete, or raise the budget"
    spare = max(100, SLACK * BUDGET[part])
    assert BUDGET[part] - lines <= spare, f"{part} has {lines}: lower its budget to that"
