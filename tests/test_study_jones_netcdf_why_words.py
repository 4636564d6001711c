"""The counts behind the rates of netCDF, and which size is fastest, in words."""

import pandas as pd

from hyperslab.study.jones import netcdf_why_words, plan, size_words


def jumping(fetched, asked, reads=100):
    """Rates of strided cold reads by netCDF-C, by the bytes of a read."""
    return pd.DataFrame(
        {"reader": "netcdf-c", "pattern": "strided", "state": "cold", "size": plan.size_name(n),
         "nbytes": n, "fetched": fetched[n], "asked": asked.get(n, 1.0), "reads": reads}
        for n in fetched
    )  # fmt: skip


def test_strided_reads_say_who_fetches_what_is_skipped():
    said = netcdf_why_words.strided(jumping({512: 18.6, 4096: 5.0, 2**20: 1.2}, {512: 4, 4096: 4}))
    assert "in buffers of 512 B (18.6) and 4 KiB (5) through its own read calls, 4 for" in said
    assert "explanation of the quarter holds" in said and "unexplained" not in said
    assert "the system read ahead past the last of them, up to 747.5 kB" in said
    near = netcdf_why_words.strided(jumping({512: 4.0, 4096: 1.5}, {512: 4}))
    assert "explanation of the quarter holds" in near and "past the last" not in near
    few = netcdf_why_words.strided(jumping({512: 3.0}, {512: 3.0}))
    assert "explanation of the quarter" not in few
    assert netcdf_why_words.strided(jumping({512: 1.0, 2**20: 1.2}, {})) == ""


def test_read_ahead_that_sizes_do_not_explain_is_called_so():
    far = {2**20: 1.6, 2**21: 4.0, 2**22: 1.2, 2**23: 3.0}
    said = netcdf_why_words.strided(jumping(far, {}))
    assert "2 MiB (4) and 8 MiB (3), and not by read calls: the system reads ahead" in said
    assert "6.291 MB and 16.78 MB after each read" in said
    assert "further ahead after reads of 2 MiB (6.291 MB, and 838.9 kB of 4 MiB)" in said
    assert "At 2 MiB that is all that is skipped" in said and "At 8 MiB" not in said
    smooth = netcdf_why_words.strided(jumping({2**20: 1.6, 2**21: 2.6, 2**22: 2.7}, {}))
    assert "the system reads ahead" in smooth and "unexplained" not in smooth
    assert "quarter holds" not in smooth
    alone = netcdf_why_words.strided(jumping(far, {}, reads=1))
    assert "unexplained" not in alone


def test_page_faults_of_a_start_are_none_of_small_reads():
    def said(small):
        sizes = (512, 4096, 2**20, 2**24, 2**26)
        table = pd.DataFrame(
            {"reader": reader, "pattern": "sequential", "state": "warm", "nbytes": n,
             "size": plan.size_name(n), "faults": small if n < 2**20 else 1e3 * (n >> 20)}
            for reader in ("netcdf4-python", "c-fread") for n in sizes
        )  # fmt: skip
        return netcdf_why_words.faults(table[:0], table)

    assert "from 1 MiB on: netCDF4-python 1 at 1 MiB, 64 at 64 MiB and at most 64," in said(1e9)
    assert said(1e9) == said(0.0) and "C fread 1 at 1 MiB" in said(0.0)


def test_sizes_are_told_apart_within_blocks():
    rates = pd.DataFrame(
        {"4KiB": [78, 117, 39, 78, 94.0, 86], "1MiB": [100, 150, 50, 100, 120, 110]}
    )
    assert rates["4KiB"].max() > rates["1MiB"].min()  # intervals of their own would overlap
    said = size_words.fastest(1e6 * rates)
    assert "1 MiB is fastest (105 MB/s)" in said and "no other size comes near" in said
    assert "4 KiB is 22 % slower" in said
    far = size_words.fastest(1e6 * rates.assign(**{"4KiB": rates["1MiB"] / 300}))
    assert "4 KiB is 300× slower" in far
    few = size_words.fastest(1e6 * rates[:5])
    assert "4 KiB is not told apart from it (an interval needs 6 blocks)" in few
