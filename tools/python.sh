#!/bin/sh
# Runs Python for the study: tools/python.sh [--extra NAME]… ARGUMENTS
# In the active virtual or conda environment where that has the package and the extras' packages,
# else in .venv, which is set up first. With --why alone it sets up and says which and why.
set -eu
root=$(CDPATH= cd "$(dirname "$0")/.." && pwd -P)
# A run starts hundreds of processes. Without bytecode on disk, each compiles all that it imports,
# which takes a third of the time of a toy run; containers often set this for smaller images.
unset PYTHONDONTWRITEBYTECODE

extras=study
if [ "${1:-}" = --extra ]; then
  extras="$extras $2"
  shift 2
fi

active=${VIRTUAL_ENV:-${CONDA_PREFIX:-}}
if [ -n "$active" ] && ! [ "$active" -ef "$root/.venv" ]; then
  # shellcheck disable=SC2086 # extras is a list
  if lacks=$("$active/bin/python" -I "$root/tools/suitable.py" $extras 2>&1); then
    [ "${1:-}" = --why ] && echo "using the active environment; nothing is installed" >&2 && exit 0
    # This folder's code, also where the environment holds another copy of it.
    export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
    exec "$active/bin/python" "$@"
  fi
  [ "${1:-}" = --why ] && echo "the active environment is not used: $lacks" >&2
fi
sh "$root/tools/setup.sh"
[ "${1:-}" = --why ] || exec "$root/.venv/bin/python" "$@"
