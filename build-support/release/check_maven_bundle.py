#!/usr/bin/env python3
"""Checks a directory in Maven's layout by the rules of Maven Central, before anything is uploaded.

  check_maven_bundle.py --version 1.2.0 --key PUBLIC.asc [--forbid TEXT]... [--bundle FILE] REPOSITORY
  check_maven_bundle.py --self-test

For each artifact that the project publishes: pom, jar, sources, Javadoc and list of components are there and nothing else
is; each has a signature by the key, an MD5 and a SHA-1 that are right; the pom has name and description itself, and url,
licenses, developers, scm and issue management itself or by its parent in the same directory; nothing is a SNAPSHOT or
depends on one; each dependency has a version; jars are whole, name the version, and hold no TEXT (the directory of the
build, say). --bundle writes the ZIP file to upload if all is well. Needs gpg.

--self-test makes a small repository that passes, breaks one thing after another, and fails if a break is not found.
"""
import argparse
import hashlib
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

GROUP = "tech.bsdb"
PARENT = "bsdb"
# Each published artifact, and what its jar must have besides classes.
ARTIFACTS = {
    "bsdb": None,
    # Without the overlay, Java 22 and newer would not get the faster reads.
    "bsdb-core": ["META-INF/versions/17/module-info.class", "META-INF/versions/22/"],
    "bsdb-tools": ["tech/bsdb/tools/Main.class"],
    "bsdb-spark": ["META-INF/services/org.apache.spark.sql.sources.DataSourceRegister", "META-INF/LICENSE"],
    "bsdb-flink": ["META-INF/services/org.apache.flink.table.factories.Factory", "META-INF/LICENSE"],
    "bsdb-trino": ["META-INF/services/io.trino.spi.Plugin", "META-INF/LICENSE"],
}
SUMS = {".md5": hashlib.md5, ".sha1": hashlib.sha1}
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"


def text(element, path):
    found = element.find("/".join(NAMESPACE + part for part in path.split("/")))
    return (found.text or "").strip() if found is not None else ""


class Pom:
    def __init__(self, file, parents):
        self.root = xml.etree.ElementTree.parse(file).getroot()
        above = text(self.root, "parent/artifactId")
        self.parent = parents.get(above) if above else None
        self.above = above
        self.properties = dict(self.parent.properties) if self.parent else {}
        for each in self.root.iterfind(f"{NAMESPACE}properties/*"):
            self.properties[each.tag.replace(NAMESPACE, "")] = (each.text or "").strip()
        for name in ("groupId", "version", "artifactId"):
            self.properties["project." + name] = text(self.root, name) or text(self.root, "parent/" + name)

    def own(self, path):
        return self.interpolated(text(self.root, path))

    def inherited(self, path):
        return self.own(path) or (self.parent.inherited(path) if self.parent else "")

    def interpolated(self, value):
        for _ in range(5):
            value = re.sub(r"\$\{([^}]+)}", lambda name: self.properties.get(name.group(1), name.group(0)), value)
        return value

    def dependencies(self, path="dependencies"):
        for each in self.root.iterfind("/".join(NAMESPACE + part for part in (path + "/dependency").split("/"))):
            yield {name: self.interpolated(text(each, name)) for name in ("groupId", "artifactId", "version", "scope", "type")}

    def managed(self):
        found = self.parent.managed() if self.parent else {}
        for each in self.dependencies("dependencyManagement/dependencies"):
            found[each["groupId"], each["artifactId"]] = each["version"]
            if each["scope"] == "import":
                found["import", each["groupId"]] = each["version"]
        return found


def expected(artifact, version):
    names = [f"{artifact}-{version}.pom", f"{artifact}-{version}-cyclonedx.json"]
    if ARTIFACTS[artifact] is not None:
        names += [f"{artifact}-{version}{suffix}.jar" for suffix in ("", "-sources", "-javadoc")]
    return names


def file_problems(repository, version):
    """Files that are missing or too many, and checksums that are wrong."""
    group = repository / GROUP.replace(".", "/")
    wanted = set()
    for artifact in ARTIFACTS:
        for name in expected(artifact, version):
            for suffix in ("", ".asc", *SUMS):
                wanted.add(group / artifact / version / (name + suffix))
    there = {file for file in repository.rglob("*") if file.is_file()}
    optional = {pathlib.Path(f"{file}{sums}") for file in wanted if file.suffix == ".asc" for sums in SUMS}
    for file in sorted(wanted - there):
        yield f"missing: {file.relative_to(repository)}"
    for file in sorted(there - wanted - optional):
        yield f"should not be there: {file.relative_to(repository)}"
    for file in sorted(there & wanted):
        if file.suffix in SUMS and (of := file.with_suffix("")).is_file():
            if file.read_text().split()[:1] != [SUMS[file.suffix](of.read_bytes()).hexdigest()]:
                yield f"wrong checksum: {file.relative_to(repository)}"


def signature_problems(repository, key):
    with tempfile.TemporaryDirectory() as home:
        gpg = ["gpg", "--batch", "--quiet", "--homedir", home, "--status-fd", "1", "--no-auto-check-trustdb"]
        if subprocess.run([*gpg, "--import", str(key)], capture_output=True).returncode:
            yield f"not a public key: {key}"
            return
        for signature in sorted(repository.rglob("*.asc")):
            of = signature.with_suffix("")
            if of.is_file():
                said = subprocess.run([*gpg, "--verify", str(signature), str(of)], capture_output=True, text=True)
                if said.returncode or "[GNUPG:] VALIDSIG " not in said.stdout:
                    yield f"bad signature: {signature.relative_to(repository)}"


def pom_problems(artifact, pom, version):
    where = f"{artifact}: pom"
    if pom.above and pom.parent is None:
        yield f"{where}: its parent {pom.above} is not published"
    if pom.above and text(pom.root, "parent/version") != version:
        yield f"{where}: its parent has another version than {version}"
    if pom.properties["project.groupId"] != GROUP:
        yield f"{where}: another group than {GROUP}"
    if pom.properties["project.version"] != version:
        yield f"{where}: another version than {version}"
    if ARTIFACTS[artifact] is None and text(pom.root, "packaging") != "pom":
        yield f"{where}: its packaging is not pom"
    for field in ("name", "description"):
        if not pom.own(field):
            yield f"{where}: no {field}"
    for field in ("url", "licenses/license/name", "licenses/license/url", "developers/developer/name", "scm/url", "scm/connection", "issueManagement/url"):
        value = pom.inherited(field)
        if not value:
            yield f"{where}: no {field}"
        elif "${" in value:
            yield f"{where}: {field} is not resolved: {value}"
        elif field.endswith("url") and not re.match(r"https?://[^/]+\.[^/]+/", value):
            yield f"{where}: {field} is no address: {value}"
    managed = pom.managed()
    for each in pom.dependencies():
        name = f"{each['groupId']}:{each['artifactId']}"
        found = each["version"] or managed.get((each["groupId"], each["artifactId"])) or managed.get(("import", each["groupId"]), "")
        if each["scope"] == "system":
            yield f"{where}: {name} has the scope system"
        if each["scope"] != "test" and (not found or "${" in found):
            yield f"{where}: {name} has no version"
        if "SNAPSHOT" in found:
            yield f"{where}: {name} is a SNAPSHOT"
    for element in pom.root.iter():
        if element.tag in (NAMESPACE + "repository", NAMESPACE + "pluginRepository"):
            yield f"{where}: names a repository of its own"
        if "-SNAPSHOT" in (element.text or ""):
            yield f"{where}: {element.tag.replace(NAMESPACE, '')} is a SNAPSHOT"


def jar_problems(file, needed, version, forbidden, kind):
    name = file.name
    try:
        with zipfile.ZipFile(file) as jar:
            entries = jar.namelist()
            if jar.testzip() is not None:
                yield f"{name}: damaged"
            if len(entries) != len(set(entries)):
                yield f"{name}: an entry is there twice"
            if kind == "-sources" and not any(entry.endswith(".java") for entry in entries):
                yield f"{name}: no sources"
            if kind == "-javadoc" and "index.html" not in entries:
                yield f"{name}: no Javadoc"
            if kind == "":
                manifest = jar.read("META-INF/MANIFEST.MF").decode() if "META-INF/MANIFEST.MF" in entries else ""
                if f"Implementation-Version: {version}" not in manifest.splitlines():
                    yield f"{name}: the manifest does not name version {version}"
                if not any(entry.endswith(".class") for entry in entries):
                    yield f"{name}: no classes"
                for entry in needed:
                    if not any(each == entry or (entry.endswith("/") and each.startswith(entry) and each != entry) for each in entries):
                        yield f"{name}: no {entry}"
            for entry in entries:
                if entry.startswith("/") or ".." in entry.split("/"):
                    yield f"{name}: bad path {entry}"
                content = jar.read(entry)
                for each in forbidden:
                    if each.encode() in content:
                        yield f"{name}: {entry} contains {each}"
    except (zipfile.BadZipFile, OSError, ValueError) as wrong:
        yield f"{name}: not a whole jar: {wrong}"


def problems(repository, version, key, forbidden):
    if version.endswith("-SNAPSHOT"):
        yield f"{version} is not a release"
    yield from file_problems(repository, version)
    yield from signature_problems(repository, key)
    poms = {}
    for artifact, needed in ARTIFACTS.items():
        place = repository / GROUP.replace(".", "/") / artifact / version
        file = place / f"{artifact}-{version}.pom"
        if file.is_file():
            try:
                poms[artifact] = Pom(file, poms)
            except xml.etree.ElementTree.ParseError as wrong:
                yield f"{artifact}: pom: {wrong}"
                continue
            yield from pom_problems(artifact, poms[artifact], version)
            for each in forbidden:
                if each in file.read_text():
                    yield f"{artifact}: pom: contains {each}"
        for kind in ("", "-sources", "-javadoc") if needed is not None else ():
            jar = place / f"{artifact}-{version}{kind}.jar"
            if jar.is_file():
                yield from jar_problems(jar, needed, version, forbidden, kind)
        components = place / f"{artifact}-{version}-cyclonedx.json"
        if components.is_file():
            content = components.read_text()
            if '"CycloneDX"' not in content:
                yield f"{components.name}: not a list of components by CycloneDX"
            for each in (*forbidden, "-SNAPSHOT"):
                if each in content:
                    yield f"{components.name}: contains {each}"


def write_bundle(repository, bundle):
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as target:
        for file in sorted(each for each in repository.rglob("*") if each.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(repository).as_posix(), (2025, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, file.read_bytes())


# ---- The self-test

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
{head}<artifactId>{artifact}</artifactId><name>n</name><description>d</description>
{body}</project>"""
PARENT_BODY = """<packaging>pom</packaging><url>${repository.url}</url>
<licenses><license><name>Apache-2.0</name><url>https://www.apache.org/licenses/LICENSE-2.0</url></license></licenses>
<developers><developer><name>a team</name></developer></developers>
<scm><url>${repository.url}</url><connection>scm:git:${repository.url}.git</connection></scm>
<issueManagement><url>${repository.url}/issues</url></issueManagement>
<properties><repository.url>https://code.example/a/b</repository.url></properties>
<dependencyManagement><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency></dependencies></dependencyManagement>"""
MODULE_BODY = "<dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId></dependency></dependencies>"


def gpg_home(home):
    pathlib.Path(home).chmod(0o700)
    gpg = ["gpg", "--batch", "--quiet", "--homedir", str(home), "--pinentry-mode", "loopback", "--passphrase", ""]
    subprocess.run([*gpg, "--quick-generate-key", "self-test (throw-away key)", "ed25519", "sign", "1d"], check=True, capture_output=True)
    return gpg


def seal(file, gpg):
    """Writes what belongs beside a file."""
    pathlib.Path(f"{file}.asc").unlink(missing_ok=True)
    subprocess.run([*gpg, "--armor", "--detach-sign", str(file)], check=True, capture_output=True)
    for suffix, sums in SUMS.items():
        pathlib.Path(f"{file}{suffix}").write_text(sums(file.read_bytes()).hexdigest())


def jar_bytes(entries):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as jar:
        for name, content in entries.items():
            jar.writestr(name, content)
    return target.getvalue()


def small_repository(repository, version, gpg):
    for artifact, needed in ARTIFACTS.items():
        place = repository / GROUP.replace(".", "/") / artifact / version
        place.mkdir(parents=True)
        base = f"{artifact}-{version}"
        if needed is None:
            head = f"<groupId>{GROUP}</groupId><version>{version}</version>"
        else:
            head = f"<parent><groupId>{GROUP}</groupId><artifactId>{PARENT}</artifactId><version>{version}</version></parent>"
        body = PARENT_BODY if needed is None else MODULE_BODY
        (place / f"{base}.pom").write_text(POM.format(head=head, artifact=artifact, body=body))
        (place / f"{base}-cyclonedx.json").write_text('{"bomFormat": "CycloneDX"}')
        if needed is not None:
            entries = {"META-INF/MANIFEST.MF": f"Implementation-Version: {version}\n", "a/A.class": "a"}
            entries.update({entry + "x.class" if entry.endswith("/") else entry: "x" for entry in needed})
            (place / f"{base}.jar").write_bytes(jar_bytes(entries))
            (place / f"{base}-sources.jar").write_bytes(jar_bytes({"a/A.java": "class A {}"}))
            (place / f"{base}-javadoc.jar").write_bytes(jar_bytes({"index.html": "a"}))
        for file in list(place.iterdir()):
            seal(file, gpg)


def self_test():
    version = "1.2.0"
    failed = 0
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder, "gpg")
        home.mkdir()
        gpg = gpg_home(home)
        key = pathlib.Path(folder, "key.asc")
        key.write_bytes(subprocess.run([*gpg, "--armor", "--export"], check=True, capture_output=True).stdout)
        good = pathlib.Path(folder, "good")
        small_repository(good, version, gpg)

        def expect(what, change, message, number=version, again=True):
            """Breaks a copy of the repository and looks for the message; with again, signs what changed."""
            nonlocal failed, count
            count += 1
            broken = pathlib.Path(folder, "broken")
            shutil.copytree(good, broken)
            changed = change(broken / GROUP.replace(".", "/")) if change else None
            for file in changed or ():
                if again:
                    seal(file, gpg)
            found = list(problems(broken, number, key, ["/secret/place"]))
            shutil.rmtree(broken)
            if message is None and found or message is not None and not any(message in each for each in found):
                failed += 1
                print(f"self-test: {what}: expected {message!r}, found {found}", file=sys.stderr)

        def remove(name):
            def change(group):
                matches = list(group.rglob(name))
                assert matches, name
                for each in matches:
                    each.unlink()
            return change

        def edit(name, old, new):
            def change(group):
                file = next(group.rglob(name))
                assert old in file.read_text(), (name, old)
                file.write_text(file.read_text().replace(old, new, 1))
                return [file]
            return change

        def rewrite(name, drop=(), **more):
            def change(group):
                file = next(group.rglob(name))
                with zipfile.ZipFile(file) as jar:
                    entries = {entry: jar.read(entry) for entry in jar.namelist() if entry not in drop}
                entries.update({key.replace("__", "/"): value for key, value in more.items()})
                file.write_bytes(jar_bytes(entries))
                return [file]
            return change

        def add(name, content):
            def change(group):
                (group / name).write_text(content)
            return change

        expect("nothing", None, None)
        core = f"bsdb-core-{version}"
        parent = f"bsdb-{version}.pom"
        for name in [name for artifact in ARTIFACTS for name in expected(artifact, version)]:
            for suffix in ("", ".asc", ".md5", ".sha1"):
                expect(f"no {name}{suffix}", remove(name + suffix), f"missing: {GROUP.replace('.', '/')}/")
        expect("a jar of tests", add(f"bsdb-core/{version}/{core}-tests.jar", "x"), "should not be there")
        expect("Maven's own list", add("bsdb-core/maven-metadata.xml", "x"), "should not be there")
        expect("another MD5", edit(f"{core}.jar.md5", "", "0"), "wrong checksum", again=False)
        expect("another SHA-1", edit(f"{core}.pom.sha1", "", "0"), "wrong checksum", again=False)
        expect("a changed file", rewrite(f"{core}.jar", a__B="b"), "bad signature", again=False)
        expect("a foreign signature", edit(f"{core}.pom.asc", "PGP SIGNATURE", "PGP SIGNATURES"), "bad signature", again=False)
        for field, old in {
            "name": "<name>n</name>", "description": "<description>d</description>",
        }.items():
            expect(f"no {field}", edit(f"{core}.pom", old, ""), f"no {field}")
        for field, old in {
            "url": "<url>${repository.url}</url>\n<licenses>",
            "licenses/license/name": "<name>Apache-2.0</name>",
            "licenses/license/url": "<url>https://www.apache.org/licenses/LICENSE-2.0</url>",
            "developers/developer/name": "<name>a team</name>",
            "scm/url": "<scm><url>${repository.url}</url>",
            "scm/connection": "<connection>scm:git:${repository.url}.git</connection>",
            "issueManagement/url": "<issueManagement><url>${repository.url}/issues</url>",
        }.items():
            keep = re.match("<scm>|<issueManagement>", old)
            new = keep.group() if keep else "<licenses>" if old.endswith("<licenses>") else ""
            expect(f"no {field}", edit(parent, old, new), f"no {field}")
        expect("an unknown property", edit(parent, "<repository.url>https://code.example/a/b</repository.url>", ""), "is not resolved")
        expect("no address", edit(parent, "https://code.example/a/b", "code"), "is no address")
        expect("no packaging", edit(parent, "<packaging>pom</packaging>", ""), "packaging is not pom")
        expect("another group", edit(parent, f"<groupId>{GROUP}</groupId>", "<groupId>g</groupId>"), "another group")
        expect("another version", edit(parent, f"<version>{version}</version>", "<version>9</version>"), "another version")
        expect("another parent", edit(f"{core}.pom", f"<version>{version}</version>", "<version>9</version>"), "parent has another version")
        expect("a parent elsewhere", edit(f"{core}.pom", "<artifactId>bsdb</artifactId>", "<artifactId>b</artifactId>"), "is not published")
        expect("a dependency without a version", edit(parent, "<version>1</version>", ""), "g:a has no version")
        expect("a dependency on a SNAPSHOT", edit(parent, "<version>1</version>", "<version>2-SNAPSHOT</version>"), "g:a is a SNAPSHOT")
        expect("a SNAPSHOT somewhere", edit(parent, "<packaging>", "<properties><p>1-SNAPSHOT</p></properties><packaging>"), "p is a SNAPSHOT")
        expect("the scope system", edit(f"{core}.pom", "<artifactId>a</artifactId>", "<artifactId>a</artifactId><scope>system</scope>"), "has the scope system")
        expect("a repository", edit(parent, "<packaging>", "<repositories><repository/></repositories><packaging>"), "a repository of its own")
        expect("not XML", edit(f"{core}.pom", "<name>", "<nome>"), "bsdb-core: pom: mismatched tag")
        expect("a path in the pom", edit(f"{core}.pom", "<description>d", "<description>/secret/place"), "contains /secret/place")
        expect("a path in a jar", rewrite(f"{core}.jar", a__B="in /secret/place"), "contains /secret/place")
        expect("a path in the list", edit(f"{core}-cyclonedx.json", "{", '{"a": "/secret/place",'), "contains /secret/place")
        expect("no list", edit(f"{core}-cyclonedx.json", "CycloneDX", "x"), "not a list of components")
        expect("no manifest", rewrite(f"{core}.jar", drop=["META-INF/MANIFEST.MF"]), "does not name version")
        expect("no classes", rewrite(f"bsdb-spark-{version}.jar", drop=["a/A.class"]), "no classes")
        expect("no overlay", rewrite(f"{core}.jar", drop=["META-INF/versions/22/x.class"]), "no META-INF/versions/22/")
        expect("no module", rewrite(f"{core}.jar", drop=["META-INF/versions/17/module-info.class"]), "no META-INF/versions/17/module-info.class")
        expect("no sources", rewrite(f"{core}-sources.jar", drop=["a/A.java"], x="x"), "no sources")
        expect("no Javadoc", rewrite(f"{core}-javadoc.jar", drop=["index.html"], x="x"), "no Javadoc")
        expect("not a jar", edit_bytes(f"{core}.jar"), "not a whole jar")
        expect("a SNAPSHOT", None, "is not a release", number="1.2.0-SNAPSHOT")
    print(f"self-test: {count} cases, {failed} failed")
    return failed


def edit_bytes(name):
    def change(group):
        file = next(group.rglob(name))
        file.write_bytes(file.read_bytes()[:100])
        return [file]
    return change


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--version")
    parser.add_argument("--key", type=pathlib.Path)
    parser.add_argument("--forbid", action="append", default=[], metavar="TEXT")
    parser.add_argument("--bundle", type=pathlib.Path)
    parser.add_argument("repository", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    if shutil.which("gpg") is None:
        parser.error("gpg is not installed")
    if options.self_test:
        sys.exit(1 if self_test() else 0)
    if not (options.version and options.key and options.repository):
        parser.error("needs --version, --key and a repository, or --self-test")
    if not options.repository.is_dir():
        parser.error(f"no such directory: {options.repository}")
    wrong = list(problems(options.repository, options.version, options.key, options.forbid))
    for each in wrong:
        print(f"check_maven_bundle: {each}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    if options.bundle:
        write_bundle(options.repository, options.bundle)
    print(f"{options.repository}: {len(ARTIFACTS)} artifacts of {GROUP} {options.version} keep the registry's rules")


if __name__ == "__main__":
    main()
