"""What this machine says of itself."""

import pytest

from hyperslab.io.cards import CARDS, readers
from hyperslab.measure import machine


def test_a_host_that_takes_freed_memory_is_known_by_its_balloon(tmp_path):
    device = tmp_path / "devices" / "virtio0"
    device.mkdir(parents=True)
    for driver, features, told in (
        ("virtio_balloon", "01100101", True),
        ("virtio_balloon", "01100001", False),
        ("virtio_blk", "11111111", False),
    ):
        (device / "features").write_text(features + 56 * "0" + "\n")
        (device / "driver").unlink(missing_ok=True)
        (device / "driver").symlink_to(tmp_path / driver)
        assert machine.host_takes_freed_memory(tmp_path / "devices") is told


@pytest.mark.parametrize(
    ("membership", "limits", "told"),
    [
        ("4:memory:/jobs/one", {"memory/jobs/one/memory.limit_in_bytes": 2**22}, 2**22),
        ("4:memory:/jobs/one", {"memory/jobs/one/memory.limit_in_bytes": 2**63 - 4096}, 2**40),
        ("0::/jobs/one", {"jobs/one/memory.max": "max", "jobs/memory.max": 2**24}, 2**24),
        ("3:cpuset:/jobs", {"jobs/memory.max": 2**24}, 2**40),
    ],
)
def test_memory_is_what_the_control_groups_leave(tmp_path, monkeypatch, membership, limits, told):
    monkeypatch.setattr(machine, "memory_bytes", lambda: 2**40)
    known = tmp_path / "known"
    known.write_text(membership + "\n")
    for name, limit in limits.items():
        place = tmp_path / "groups" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{limit}\n")
    assert machine.memory_limit_bytes(known, tmp_path / "groups") == told
    assert machine.memory_limit_bytes(tmp_path / "none", tmp_path / "groups") == 2**40


def test_what_a_reader_needs_and_what_decides_requests_has_a_version_in_the_records():
    known = machine.versions()
    here = {name for place in ("file", "http", "s3") for name in readers(place=place)}
    libraries = {card.library for card in CARDS if card.name in here}
    assert libraries and all(machine.library_version(name, known) for name in libraries)
    asking = {"aiohttp", "fsspec", "hidefix", "kerchunk", "obstore", "s3fs", "virtualizarr"}
    imported = {module for card in CARDS for module in card.requires} - {"obspec_utils"}
    assert asking | imported <= set(machine.PACKAGES)
