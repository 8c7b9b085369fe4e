#!/usr/bin/env bash
# Builds and installs the C library: native/c/install.sh [--no-remote] PREFIX [BUILT]
#
# Installs PREFIX/include/bsdb.h, PREFIX/lib/libbsdb.so.1 (libbsdb.1.dylib on macOS) with the link libbsdb.so,
# PREFIX/lib/libbsdb.a, PREFIX/lib/pkgconfig/bsdb.pc, and the licenses in PREFIX/share/doc/bsdb. PREFIX is an absolute
# path, which may have spaces, but none of $(){}; with DESTDIR set, the files go below $DESTDIR. BUILT is a directory
# with libraries that are built already; without it, cargo builds them, into $CARGO_TARGET_DIR if it is set. Needs Rust,
# and a C compiler for ZSTD.
#
#   --no-remote  builds a library that reads only directories, a quarter of the size; see README.md
set -euo pipefail

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 2
}

features=()
if [ "${1:-}" = --no-remote ]; then
  features=(--no-default-features)
  shift
fi
case ${1:-} in
  '' | -h | --help)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"
    exit 0
    ;;
  /*) prefix=$1 ;;
  *) fail "PREFIX must be an absolute path: $1" ;;
esac
case $prefix in
  *[\$\(\)\{\}$'\n\r']*) fail "PREFIX has one of the characters \$(){} or a line break, which bsdb.pc cannot hold: $prefix" ;;
esac
root=$(cd -- "$(dirname -- "$0")" && pwd -P)
native=$(dirname -- "$root")
built=${2:-}
if [ -z "$built" ]; then
  (cd "$native" && cargo build --release --locked --package bsdb-c ${features[@]+"${features[@]}"}) || fail "the build failed"
  built=$(cd "$native" && cd "${CARGO_TARGET_DIR:-target}/release" && pwd -P)
fi

case $(uname -s) in
  Darwin)
    shared=libbsdb.dylib
    versioned=libbsdb.1.dylib
    static="-framework Security -framework CoreFoundation -liconv -lm"
    ;;
  *)
    shared=libbsdb.so
    versioned=libbsdb.so.1
    static="-lgcc_s -lutil -lrt -lpthread -lm -ldl"
    ;;
esac
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$native/Cargo.toml" | head -n 1)
[ -n "$version" ] || fail "no version in $native/Cargo.toml"

target=${DESTDIR:-}$prefix
mkdir -p "$target/include" "$target/lib/pkgconfig"
install -m 644 "$root/include/bsdb.h" "$target/include/bsdb.h"
mkdir -p "$target/share/doc/bsdb"
install -m 644 "$native/../LICENSE" "$native/python/THIRD-PARTY.txt" "$target/share/doc/bsdb/"
install -m 644 "$built/libbsdb.a" "$target/lib/libbsdb.a"
install -m 755 "$built/$shared" "$target/lib/$versioned"
ln -sf "$versioned" "$target/lib/$shared"
pc=$(cat "$root/bsdb.pc.in")
# As for a shell, which is how pkg-config reads and prints it.
escaped=$(printf '%s' "$prefix" | sed 's/[][[:blank:]"'\''\\#&;*?!|<>`~^]/\\&/g')
pc=${pc//@PREFIX@/"$escaped"}
pc=${pc//@VERSION@/"$version"}
pc=${pc//@STATIC@/"$static"}
printf '%s\n' "$pc" > "$target/lib/pkgconfig/bsdb.pc"
