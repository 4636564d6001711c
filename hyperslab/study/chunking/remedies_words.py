"""The sentences on what gives each library a larger chunk cache, with numbers from the records."""

import pandas as pd

from .remedies import ANEW, LIBRARIES, REMEDIES, REOPENING, Remedy


def table_remedies(found: pd.DataFrame) -> pd.DataFrame:
    """Return what each library costs as it is and with each remedy, as text.

    Parameters
    ----------
    found : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "remedies".
    """
    cost, took = _chunks(found), dict(zip(found["case"], found["ms"], strict=True))
    own = dict(zip(found["case"], found["cache_bytes"] / 2**20, strict=True))
    rows = []
    for remedy in REMEDIES:
        name, default = f"{remedy.library}/{remedy.name}", f"{remedy.library}/default"
        if remedy.name == ANEW or not {name, default} <= cost.keys():
            continue
        rows.append(
            {
                "library": LIBRARIES[remedy.library],
                "its cache, MiB": f"{own[default]:g}",
                "with that": f"{cost[default]:,.0f} in {took[default]:.0f} ms",
                "the line": f"`{remedy.code}`",
                "with it": f"{cost[name]:,.0f} in {took[name]:.0f} ms",
                "helps": "yes" if cost[name] < cost[default] else "no",
            }
        )
    return pd.DataFrame(rows)


def caption_remedies(found: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the remedies."""
    first = found[~found["case"].str.startswith("small/")].iloc[0]
    how = "counted" if found["fetched"].notna().all() else "by the model, for want of a count"
    return (
        f"Chunks fetched by {first['rows']} rows of one chunk of {first['chunk_mib']:.2f} MiB "
        f"({how}) and their time (a median of {found['n'].max():.0f}): through the library's "
        "default cache, and through one of n bytes, twice a chunk. nc is a netCDF4.Dataset. "
        f"Run {records['run_id'].iloc[0]}."
    )


def reopened(found: pd.DataFrame) -> str:
    """Return what libraries cost that look a dataset up anew for every read.

    Parameters
    ----------
    found : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "remedies".
    """
    cost = _chunks(found)
    small = {name: cost[f"small/{name}"] for name in LIBRARIES if f"small/{name}" in cost}
    anew, kept = (cost.get(f"h5py/{name}") for name in (ANEW, "rdcc_nbytes"))
    reopening = [small[name] for name in REOPENING if name in small]
    if not reopening or "h5py" not in small or anew is None or kept is None:
        return ""
    rows = found[found["case"].str.startswith("small/")]["rows"].iloc[0]
    said = "; ".join(f"{LIBRARIES[name]}: {n:,.0f}" for name, n in small.items())
    title = "does not last" if max(reopening) > small["h5py"] else "lasts"
    return (
        f"**A cache that {title}.** HDF5 keeps a chunk cache as long as a dataset is open. "
        "h5netcdf, and xarray with it, look the dataset up for every read and let go of it after. "
        f"Of {rows} rows over small chunks that fit every cache, the libraries fetched ({said}). "
        f'`f["t"][i]` in a loop does the same to h5py: {anew:,.0f} chunks of the large file, and '
        f"{kept:,.0f} with a dataset that is kept."
    )


def advice(found: pd.DataFrame, edges: pd.DataFrame) -> str:
    """Return what to do today.

    Parameters
    ----------
    found : pandas.DataFrame
        From `sweep_costs.counted`, of the experiment "remedies".
    edges : pandas.DataFrame
        Records of the experiment "edges".
    """
    cost = _chunks(found)
    good = [remedy for remedy in REMEDIES if _helps(remedy, cost)]
    lines = [
        f"  {code:<52} # {' and '.join(LIBRARIES[remedy.library] for remedy in group)}"
        f"{_noted(group[0])}"
        for code in dict.fromkeys(remedy.code for remedy in good)
        for group in [[remedy for remedy in good if remedy.code == code]]
    ]
    edge = edges[(edges["case"] == "one chunk/stays") & (edges["status"] == "ok")]["useful_bytes"]
    bound = f" (netCDF-C here: {edge.iloc[0] / 2**20:.0f} MiB)" if len(edge) else ""
    hold = ""
    if any(remedy.name == "dataset kept" for remedy in good):
        hold = " With h5netcdf any handle that is kept open on the dataset is enough."
    return (
        "- **Count the chunks that one step of your loop touches**, and give the cache room for "
        f"all of them, uncompressed. Beyond the default{bound} every step inflates them again.\n"
        "- One line sets it to n bytes; with each fewer chunks were fetched here than without:\n\n"
        "  ```python\n" + "\n".join(lines) + "\n  ```\n"
        f'- **Keep the dataset open between reads**: `t = f["t"]` once, then `t[i]`.{hold}\n'
        "- Predict before you read: `hyperslab.storage.chunk_cache.chunk_reads(shape, chunks, "
        "itemsize, boxes, cache)` gives the number of chunks that are inflated.\n"
        "- Better than a larger cache: read in the order of the chunks, a whole chunk at a time."
    )


def _noted(remedy: Remedy) -> str:
    return f", {remedy.note}" if remedy.note else ""


def _helps(remedy: Remedy, cost: dict[str, float]) -> bool:
    name, default = f"{remedy.library}/{remedy.name}", f"{remedy.library}/default"
    return {name, default} <= cost.keys() and cost[name] < cost[default]


def _chunks(found: pd.DataFrame) -> dict[str, float]:
    """Return the chunks each case fetched; by the model where nothing could be counted."""
    column = "fetched" if found["fetched"].notna().all() else "predicted"
    return dict(zip(found["case"], found[column], strict=True))
