"""What this machine says of itself."""

import pytest

from hyperslab.measure import machine


@pytest.mark.parametrize(
    ("driver", "features", "told"),
    [
        ("virtio_balloon", "01100101", True),
        ("virtio_balloon", "01100001", False),
        ("virtio_blk", "11111111", False),
    ],
)
def test_a_host_that_takes_freed_memory_is_known_by_its_balloon(tmp_path, driver, features, told):
    device = tmp_path / "devices" / "virtio0"
    device.mkdir(parents=True)
    (device / "features").write_text(features + 56 * "0" + "\n")
    (tmp_path / driver).mkdir()
    (device / "driver").symlink_to(tmp_path / driver)
    assert machine.host_takes_freed_memory(tmp_path / "devices") is told


def test_no_virtual_devices_are_no_such_host(tmp_path):
    assert not machine.host_takes_freed_memory(tmp_path / "devices")
    assert "host_takes_freed_memory" in machine.facts(tmp_path)
