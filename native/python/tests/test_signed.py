"""Databases that are opened only if a trusted key has signed them."""

import json
import pickle

import pytest
from conftest import GOLDEN, bsdb_command

import bsdbkv
from bsdbkv import _cli

# The first two keys of RFC 8032, section 7.1, as openssl writes them.
OURS = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"
OURS_PUBLIC = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
OTHERS_PUBLIC = "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

UNSIGNED = "manifest.bsdb: is not signed, but a trusted signature is required"


def pem(path, kind, text):
    path.write_text(f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
    return path


@pytest.fixture
def keys(tmp_path):
    """The files of a private key, its public key, and another public key."""
    private = pem(tmp_path / "key.pem", "PRIVATE KEY", OURS)
    return private, pem(tmp_path / "key.pub", "PUBLIC KEY", OURS_PUBLIC), pem(tmp_path / "b.pub", "PUBLIC KEY", OTHERS_PUBLIC)


def test_trust(tmp_path, keys):
    private, public, other = keys
    path = tmp_path / "db"
    built = bsdbkv.build(path, {"key": "value"})
    for attempt in (
        lambda: bsdbkv.open(path, trust=public),
        lambda: bsdbkv.Database(path, trust=[public]),
        lambda: bsdbkv.get(path, "key", trust=public),
        lambda: bsdbkv.publish(path, tmp_path / "store", trust=public),
    ):
        with pytest.raises(bsdbkv.UntrustedError, match=UNSIGNED) as raised:
            attempt()
        assert raised.value.path == str(path / "manifest.bsdb")
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    bsdbkv.sign(path, private)
    signed = (path / "manifest.bsdb").read_bytes()
    assert bsdbkv.build(path, {"key": "value"}, sign_key=private, overwrite=True).id == built.id
    assert (path / "manifest.bsdb").read_bytes() == signed
    for trust in (public, str(public), [public], [other, public], (other, public)):
        assert bsdbkv.open(path, trust=trust)["key"] == b"value"
    assert bsdbkv.get(path, "key", trust=public) == b"value"
    with pytest.raises(bsdbkv.UntrustedError, match="not by the trusted key, or what it signs was changed"):
        bsdbkv.open(path, trust=other)
    with bsdbkv.open(path, trust=public) as db:
        again = pickle.loads(pickle.dumps(db))
        assert again["key"] == b"value"
        bsdbkv.sign(path, private)
        text = pickle.dumps(db)
    bsdbkv.build(path, {"key": "value"}, overwrite=True)
    with pytest.raises(bsdbkv.UntrustedError, match=UNSIGNED):
        pickle.loads(text)
    with bsdbkv.Merger(tmp_path / "merged", path, sign_key=private) as merger:
        merger.add("more", "value")
    assert len(bsdbkv.open(tmp_path / "merged", trust=public)) == 2


def test_same_as_the_command(tmp_path, keys):
    private, public, _ = keys
    (tmp_path / "in.txt").write_text("key value\n")
    for shards in (1, 3):
        ours, theirs = tmp_path / f"ours-{shards}", tmp_path / f"theirs-{shards}"
        options = ["--shards", str(shards), "--sign-key", private, "-q"]
        bsdb_command("build", "-i", tmp_path / "in.txt", "-o", theirs, *options)
        bsdbkv.build(ours, {"key": "value"}, shards=shards, sign_key=private)
        manifests = sorted(path.relative_to(ours) for path in ours.rglob("manifest.bsdb"))
        assert len(manifests) == (1 if shards == 1 else shards + 1)
        for manifest in manifests:
            assert (ours / manifest).read_bytes() == (theirs / manifest).read_bytes(), manifest
        assert bsdb_command("get", "-d", ours, "--trust", public, "key") == "value\n"
        assert bsdbkv.open(theirs, trust=public)["key"] == b"value"


def test_stores(tmp_path, keys):
    private, public, _ = keys
    path, store = tmp_path / "db", tmp_path / "store"
    bsdbkv.build(path, {"key": "1"}, sign_key=private)
    bsdbkv.publish(path, store, trust=public)
    followed = bsdbkv.Store(store, trust=public)
    with pytest.raises(ValueError, match="trust is that of the store"):
        bsdbkv.open(followed, trust=public)
    bsdbkv.build(path, {"key": "2"}, overwrite=True)
    bsdbkv.publish(path, store)
    with pytest.raises(bsdbkv.UntrustedError, match=UNSIGNED):
        followed.refresh()
    assert followed.database["key"] == b"1"
    with pytest.raises(bsdbkv.UntrustedError, match=UNSIGNED):
        bsdbkv.open(store, trust=public)


def test_wrong_keys(tmp_path, keys):
    private, public, _ = keys
    path = tmp_path / "db"
    bsdbkv.build(path, {})
    with pytest.raises(bsdbkv.Error, match="key.pem: holds no -----BEGIN PUBLIC KEY-----; make keys with openssl"):
        bsdbkv.open(path, trust=private)
    with pytest.raises(bsdbkv.Error, match="key.pub: holds no -----BEGIN PRIVATE KEY-----"):
        bsdbkv.sign(path, public)
    with pytest.raises(bsdbkv.BuildError, match="key.pub: holds no -----BEGIN PRIVATE KEY-----"):
        bsdbkv.build(tmp_path / "new", {}, sign_key=public)
    with pytest.raises(FileNotFoundError):
        bsdbkv.open(path, trust=tmp_path / "nothing")
    with pytest.raises(ValueError, match="trust is empty"):
        bsdbkv.open(path, trust=[])
    with pytest.raises(TypeError):
        bsdbkv.open(path, trust=7)


def test_content(tmp_path):
    bsdbkv.build(tmp_path / "db", {"key": "value"})
    with bsdbkv.open(tmp_path / "db") as db:
        everything, content = db.verify(), db.verify(content=True)
        assert (everything["records"], content["records"]) == (1, 0)
        assert everything["pages"] == content["pages"] and everything["content_checked"] and content["content_checked"]
    with bsdbkv.open(GOLDEN / "v1-packed") as db:
        assert not db.verify()["content_checked"]
        text = "an older version wrote it; verify it whole, or build it anew"
        with pytest.raises(bsdbkv.UnsupportedError, match=text):
            db.verify(content=True)


def test_commands(tmp_path, keys, capfdbinary):
    private, public, other = keys

    def run(*words):
        code = _cli.main([*map(str, words)])
        streams = capfdbinary.readouterr()
        return code, streams.out.decode(), streams.err.decode()

    (tmp_path / "in.txt").write_text("key value\n")
    path = tmp_path / "db"
    assert run("build", "-i", tmp_path / "in.txt", "-o", path, "-q", "--sign-key", private)[0] == 0
    db = ("-d", path, "--trust", public)
    assert run("get", *db, "key") == (0, "value\n", "")
    assert run("scan", *db) == (0, "key value\n", "")
    assert run("stat", *db)[0] == 0
    code, out, _ = run("verify", *db, "--content", "--json")
    assert code == 0 and list(json.loads(out))[4:] == ["contentChecked", "keysChecked", "seconds"]
    assert json.loads(out)["contentChecked"] and not json.loads(out)["keysChecked"]
    assert "1 records (the content alone), " in run("verify", *db, "--content")[2]
    assert "1 records read and found again, " in run("verify", *db)[2]
    for command in (["get", "key"], ["scan"], ["stat"], ["verify"]):
        code, _, err = run(command[0], "-d", path, "--trust", other, *command[1:])
        assert code == 2 and "its signature is not by the trusted key" in err
    assert run("sign", "-d", path, "--sign-key", private) == (0, "", f"signed {path}\n")
    assert run("sign", "-d", path)[0] == 2
    assert run("sign", "-d", path, "--sign-key", tmp_path / "no") == (
        2,
        "",
        f"bsdb sign: {tmp_path / 'no'}: no such file or directory\n",
    )
    old = GOLDEN / "v1-blocked"
    code, _, err = run("verify", "-d", old, "--content")
    assert code == 2 and err.startswith(f"bsdb verify: --content: {old} has no content hashes, because")
    assert run("verify", "-d", old)[2].endswith(" s; an older version wrote it, without content hashes\n")
