"""Two kinds of read compared in each size of buffer, and what is said of them."""

import pytest
import yaml

from hyperslab.measure.records import frame_of
from hyperslab.study.jones import baseline, by_size
from hyperslab.study.jones.plan import Cell, size_bytes
from hyperslab.study.jones.spots import PATTERNS
from hyperslab.study.profile import root

SIZES = ("512B", "4KiB", "1MiB", "64MiB")
MB = 1e6


def made(rate, readers=("c-fread", "python-read"), blocks=7, reads=lambda pattern, nbytes: 100):
    """Return records in which a function gives the rate of a reader, pattern and size."""
    rows = []
    for block in range(blocks):
        for reader in readers:
            for pattern in PATTERNS:
                for nbytes in map(size_bytes, SIZES):
                    name = Cell(reader, pattern, SIZES[[*map(size_bytes, SIZES)].index(nbytes)])
                    count = reads(pattern, nbytes)
                    row = {"experiment": "patterns", "case": name.name, "cache_state": "cold"}
                    row |= {"block": block, "phase": "read", "run_id": "r", "status": "ok"}
                    row |= {"useful_bytes": count * nbytes, "stages": count, "minflt": 0}
                    row |= {"wall_s": count * nbytes / rate(reader, pattern, nbytes)}
                    row |= {"user_s": 0.0, "sys_s": 0.0, "syscr": 2 * count}
                    row |= {"rchar": count * nbytes, "read_bytes": 3 * count * nbytes}
                    rows.append(row)
    return frame_of(rows)


def by_pattern(reader, pattern, nbytes):
    quick = {"sequential": 400, "strided": 100 if nbytes > 4096 else 20, "random": 50}
    return quick[pattern] * MB


def test_ratios_are_of_each_size_from_the_smallest():
    found = by_size.ratios(made(by_pattern), "cold", "c-fread/strided", "c-fread/random")
    assert found["size"].tolist() == list(SIZES) and (found["n"] == 7).all()
    assert found["value"].tolist() == pytest.approx([0.4, 0.4, 2, 2])
    none = by_size.ratios(made(by_pattern), "warm", "c-fread/strided", "c-fread/random")
    assert none.empty and by_size.told(none, "faster", "slower") == ""


def test_sizes_in_which_an_order_is_the_other_way_are_named():
    said = by_size.order(made(by_pattern))
    assert (
        "strided reads are faster than random ones in buffers of 1 MiB and 64 MiB; slower" in said
    )
    assert "slower than random ones in 512 B and 4 KiB" in said
    assert "From C (`fread`) sequential" in said and "From Python sequential" in said
    same = by_size.order(made(lambda *_: MB))
    assert "the same within 5 %" in same and "faster" not in same and "slower" not in same


def test_with_few_blocks_nothing_is_told_apart():
    found = by_size.order(made(by_pattern, blocks=3))
    assert "not told apart, with so few blocks, in buffers of 512 B" in found
    assert "faster" not in found


def test_the_table_has_ratios_and_counts_of_every_size():
    records = made(by_pattern)
    table = by_size.orders(records, baseline.rates(records))
    assert table["buffer"].tolist() == ["512 B", "4 KiB", "1 MiB", "64 MiB"]
    assert table["Python: strided over random"].tolist()[2] == "2.00 [2.00, 2.00]"
    assert set(table["C: calls a read"]) == {"2 / 2 / 2"}
    assert set(table["Python: from the device, B/B"]) == {"3 / 3 / 3"}
    assert set(table["reads"]) == {"100 / 100 / 100"}


def test_fewer_reads_than_the_documents_and_one_alone_are_told():
    def reads(pattern, nbytes):
        if pattern == "strided" and nbytes == 2**26:
            return 1
        return {2**20: 40, 2**26: 2}.get(nbytes, 100)

    said = by_size.few(baseline.rates(made(by_pattern, reads=reads)), "c-fread")
    assert "They are fewer in buffers of 1 MiB and 64 MiB: 40 to 2." in said
    assert "A sample has one read alone, and so no pattern, strided from 64 MiB on." in said
    assert by_size.few(baseline.rates(made(by_pattern)), "c-fread") == ""


def test_netcdf_c_stands_beside_plain_c_in_every_size():
    def rate(reader, pattern, nbytes):
        return (200 if reader == "netcdf-c" and nbytes < 2**20 else 100) * MB

    records = made(rate, ("c-fread", "netcdf-c"))
    table = by_size.netcdf_c(records, baseline.rates(records))
    assert table["netCDF-C over plain C"].tolist()[0] == "2.00 [2.00, 2.00]"
    assert table["netCDF-C, MB/s"].tolist()[0] == "200 ± 0"
    said = by_size.netcdf_c_told(records)
    assert "faster than plain C in buffers of 512 B and 4 KiB; the same within 5 % in 1 MiB" in said


@pytest.mark.parametrize("profile", ["quick", "full", "paper"])
def test_the_order_of_patterns_is_measured_as_the_claim_judges_it(tmp_path, profile):
    files = baseline.files_of(tmp_path, "", 4096)
    found = baseline.cases(profile, files, 0.1, other_blocks=3)
    cold = {case.name: case.most_blocks for case in found if case.cache_state == "cold"}
    text = (root() / "book" / "claims.yml").read_text(encoding="utf-8")
    (claim,) = (c for c in yaml.safe_load(text)["claims"] if c["id"] == "jones-order")
    for part in claim["parts"]:
        where = part["measure"]["where"]
        for side in ("of", "to"):
            head, star, _ = part["measure"][side]["case"].partition("*")
            names = [head + size for size in where["size"]] if star else [head]
            names = [name for name in names if name in cold]
            assert len(names) >= (6 if star else 1)
            assert all(cold[name] == 0 or cold[name] >= 7 for name in names)


def test_quick_reads_few_patterns_from_memory(tmp_path):
    files = baseline.files_of(tmp_path, "", 256)
    warm = [case.name for case in baseline.cases("quick", files, 0.1) if case.cache_state == "warm"]
    assert "c-fread/random/64KiB" in warm and "c-fread/random/512B" not in warm
    assert "c-fread/sequential/512B" in warm
