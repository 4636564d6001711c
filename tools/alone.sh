#!/bin/sh
# Tries the package as `pip install hyperslab` brings it, its wheel and what that needs; then with
# the extra tune.
set -eu
root=$(CDPATH= cd "$(dirname "$0")/.." && pwd -P)
python() { sh "$root/tools/python.sh" --extra dev "$@"; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir . "$root"
python -m venv alone
# The lock's versions without their hashes: the wheel has none.
sed -n 's/^\([^ ]*==.*\) \\$/\1/p' "$root/requirements.lock" >versions.txt
alone/bin/pip install --quiet --disable-pip-version-check --constraint versions.txt ./*.whl
PATH="$place/alone/bin:$PATH"
unset PYTHONPATH

hyperslab --help >said
hyperslab --version
python3 - <<'END'
import h5py
with h5py.File("x.h5", "w") as file:
    file.create_dataset("x", data=range(90_000), chunks=(30_000,), compression=4)
END
hyperslab index x.h5
hyperslab index --check x.h5
hyperslab index --info x.h5
python3 -c "from hyperslab import subchunk; assert subchunk.open('x.h5')['x'][54321] == 54321"
hyperslab doctor >said || [ $? = 1 ] # 1: the study lacks something
grep -q "hyperslab\[study\]\|make ready" said
for command in "run" "book" "claims" "results add x" "advise x.h5" "bench x.h5"; do
  # shellcheck disable=SC2086 # a command and its words
  hyperslab $command 2>said && exit 1
  cat said
  [ "$(wc -l <said)" = 1 ] && grep -q "is not installed: pip install 'hyperslab\[\(study\|tune\)\]'" said
done
alone/bin/pip install --quiet --disable-pip-version-check --constraint versions.txt "$(ls ./*.whl)[tune]"
hyperslab rechunk x.h5 x.zarr --quiet
hyperslab bench x.h5 --repeats 1 >said
hyperslab advise x.h5 --rough --no-measure >said
echo "installed alone it works"
