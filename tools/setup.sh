#!/bin/sh
# Makes .venv ready to run the study: finds a Python, installs the locked packages and this folder.
# Does nothing where that was done before for the same lock, project file and place.
set -eu
cd "$(dirname "$0")/.."

started=$(date +%s)
say() { printf '[%3d s] %s\n' $(($(date +%s) - started)) "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

stamp=.venv/.ready
wanted() {
  cksum requirements.lock pyproject.toml apt.txt
  pwd -P
}
works() { "$1" -c "$2" >/dev/null 2>&1; }
suits() { works "$1" 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'; }
ready() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(wanted)" ] && suits .venv/bin/python; }

ready && exit 0
# A second make in this folder waits for the first (macOS has no flock: do not start two there).
mkdir -p .tools
if command -v flock >/dev/null; then
  exec 9>.tools/setup.lock
  flock 9
  ready && exit 0
fi

debian() { [ -e /etc/debian_version ] && command -v apt-get >/dev/null; }
root() { [ "$(id -u)" = 0 ]; }
apt_updated=
apt_install() {
  if [ -z "$apt_updated" ]; then
    apt_updated=yes
    apt-get update -qq >/dev/null 2>&1 || say "apt-get update failed: trying the lists at hand"
  fi
  say "apt-get install $1"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}

# pyenv leaves commands that fail when run, so each candidate is run, not only looked up.
# Sets python to the first that suits, one that can make a virtual environment before others.
find_python() {
  python=
  [ -n "${PYTHON:-}" ] && set -- "$PYTHON" ||
    set -- python3 python3.13 python3.12 python3.11 /usr/bin/python3
  for candidate; do
    suits "$candidate" || continue
    [ -n "$python" ] || python=$candidate
    if works "$candidate" 'import ensurepip, venv'; then
      python=$candidate
      return 0
    fi
  done
  [ -n "$python" ]
}

version() { "$1" -c 'import platform; print(platform.python_version())' 2>/dev/null || echo missing; }

named=${PYTHON:-python3}
find_python || fail "hyperslab needs Python 3.11, 3.12 or 3.13, and $named here is $(version "$named")." \
  "Install one, or name one: make PYTHON=/path/to/python3.12 (conda: conda env create -f environment.yml)."

if ! works "$python" 'import ensurepip, venv'; then
  if debian && root; then
    own=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    apt_install python3-venv || say "python3-venv could not be installed"
    works "$python" 'import ensurepip' || apt_install "$own" || say "$own could not be installed"
  fi
  works "$python" 'import ensurepip, venv' ||
    fail "$python has no ensurepip, so no virtual environment can be made." \
      "Install it as root (Debian: apt-get install python3-venv) and run make again."
fi

missing=
if debian; then
  while read -r name hash kind purpose; do
    [ "$kind" = optional: ] || continue
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'install ok installed' && continue
    if ! root; then
      missing="$missing $name"
    elif ! apt_install "$name"; then
      say "$name could not be installed; left out without it: $purpose"
    fi
  done <apt.txt
  [ -z "$missing" ] || say "not root: apt-get install$missing gives what apt.txt says; left out until then"
elif grep -q '# optional:' apt.txt; then
  say "not Debian: install what apt.txt lists as optional by hand; what it says there is left out until then"
fi

case $(pwd -P) in
*:*) fail "the folder's path holds a colon, which no virtual environment can: rename or move it." ;;
esac
if [ -f "$stamp" ] && [ "$(tail -n 1 "$stamp")" != "$(pwd -P)" ]; then
  say "this folder was moved: .venv is made anew"
elif suits .venv/bin/python && works .venv/bin/python 'import pip'; then
  keep=yes
fi
rm -f "$stamp"
if [ -z "${keep:-}" ]; then
  say "making .venv with Python $(version "$python")"
  "$python" -m venv --clear .venv || fail "$python could not make .venv: see above."
fi

pip() { .venv/bin/python -m pip --disable-pip-version-check --no-input "$@"; }
say "installing the $(grep -c '^[a-z0-9]' requirements.lock) packages of requirements.lock (a minute or two the first time)"
# uv takes a tenth of pip's time; where it cannot, as with an index that only pip knows, pip does it.
with_uv() {
  .venv/bin/python -c "if True:
    import re
    lock = open('requirements.lock').read()
    print(re.search(r'^uv==.*(\n .*)*', lock, re.MULTILINE)[0])" >.tools/uv.txt &&
    pip install --quiet --require-hashes -r .tools/uv.txt || return 1
  index=${PIP_INDEX_URL:-$(pip config get global.index-url 2>/dev/null || true)}
  [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
  .venv/bin/uv pip install --quiet --require-hashes --compile-bytecode --no-config --cache-dir .tools/uv-cache \
    --python .venv/bin/python -r requirements.lock
}
done=
with_uv >/dev/null 2>&1 && done=yes
rm -rf .tools/uv-cache
[ -n "$done" ] || pip install --quiet --require-hashes -r requirements.lock ||
  fail "the locked packages could not be installed: see above. make goes on from here when run again."
say "installing hyperslab from this folder"
pip install --quiet --no-deps --no-build-isolation -e . ||
  fail "hyperslab could not be installed: see above."
wanted >"$stamp"
say "ready: Python $(version .venv/bin/python) in .venv"
