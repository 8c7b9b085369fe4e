"""Lookups for asyncio."""

import asyncio

import pytest
from conftest import GOLDEN, RECORDS

import bsdbkv


@pytest.mark.parametrize("access", ["mapped", "read"])
def test_lookups(access):
    async def main():
        with bsdbkv.open(GOLDEN / "v1-blocked", access=access) as db:
            for _ in range(2):  # not at hand, then at hand if mapped
                for key, value in RECORDS.items():
                    assert await db.aget(key) == value
                assert await db.aget("nix") is None
                assert await db.aget("nix", b"?") == b"?"
            assert await db.aget_many([*RECORDS, "nix"], b"?") == [*RECORDS.values(), b"?"]
            found = await asyncio.gather(*(db.aget(key) for key in list(RECORDS) * 50))
            assert found == list(RECORDS.values()) * 50
            with pytest.raises(TypeError):
                await db.aget(5)
            with pytest.raises(TypeError):
                await db.aget_many([b"a", None])
        with pytest.raises(bsdbkv.ClosedError):
            await db.aget(b"bsdb")
        with pytest.raises(bsdbkv.ClosedError):
            await db.aget_many([b"bsdb"])

    asyncio.run(main())
