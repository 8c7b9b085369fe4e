"""Flipped bits and cut files: right answers or errors with a name."""

import random
import shutil

import pytest
from conftest import GOLDEN, RECORDS

import bsdbkv

KINDS = ["v1-blocked", "v1-compressed", "v1-packed-filter", "v1-packed-zstd", "v1-ptr", "v2-blocked"]


def check(directory):
    """Whether damage was noticed; every answer until then was right."""
    try:
        with bsdbkv.open(directory) as db:
            assert db.get_many([*RECORDS, b"absent"]) == [*RECORDS.values(), None]
            assert all(db[key] == value for key, value in RECORDS.items())
            assert dict(db.items()) == RECORDS
            db.verify()
        return False
    except bsdbkv.DamagedError as error:
        assert str(directory) in error.path and error.path in str(error) and error.offset >= 0
        assert f"byte {error.offset}" in str(error)
    except bsdbkv.Error as error:
        assert str(directory) in str(error)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bits(kind, tmp_path):
    copy = tmp_path / kind
    shutil.copytree(GOLDEN / kind, copy)
    source = random.Random(kind)
    noticed = 0
    for file in sorted(copy.iterdir()):
        whole = file.read_bytes()
        places = [source.randrange(8 * len(whole)) for _ in range(40)] + [source.randrange(8 * 400) for _ in range(40)]
        for place in places:
            damaged = bytearray(whole)
            damaged[place // 8] ^= 1 << place % 8
            file.unlink()
            file.write_bytes(damaged)
            noticed += check(copy)
        file.unlink()
        file.write_bytes(whole)
    assert noticed > 0 and check(copy) is False


def test_cut_and_missing_files(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(GOLDEN / "v1-packed", copy)
    for file in sorted(copy.iterdir()):
        whole = file.read_bytes()
        for length in [0, 1, 100, 4096, len(whole) - 1]:
            file.unlink()
            file.write_bytes(whole[:length])
            assert check(copy)
        file.unlink()
        with pytest.raises(bsdbkv.Error, match=str(copy)):
            bsdbkv.open(copy)
        file.write_bytes(whole)


def test_a_missing_file_is_not_found(tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(GOLDEN / "v1-packed", copy)
    next(copy.glob("data-*")).unlink()
    with pytest.raises(FileNotFoundError) as raised:
        bsdbkv.open(copy)
    assert "data-" in raised.value.filename
