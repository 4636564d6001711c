"""Records keep their types, appear whole, and refuse to be mixed."""

import numpy as np
import pytest

from hyperslab.measure import records
from hyperslab.measure.records import frame_of, load, save


def test_round_trip_keeps_types_and_missing_values(tmp_path):
    frame = frame_of([{"case": "a", "wall_s": 1.5, "shuffle": True}, {"case": "b"}])
    save(frame, tmp_path / "x.parquet")
    again = load(tmp_path / "x.parquet")
    assert list(again.columns) == list(records.COLUMNS)
    assert again["wall_s"].tolist()[0] == 1.5 and np.isnan(again["wall_s"][1])
    assert again["shuffle"].tolist() == [True, False]
    assert again["library"].tolist() == ["", ""]


def test_what_is_no_whole_file_of_records_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(ValueError, match=r"unknown record columns \['speed'\]"):
        frame_of([{"speed": 1}])
    path = tmp_path / "lee_access.parquet"
    with pytest.raises(FileNotFoundError, match="hyperslab run lee_access"):
        load(path)
    save(frame_of([{"case": "a"}]), path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"lee_access\.parquet is not a whole.*hyperslab run"):
        load(path)
