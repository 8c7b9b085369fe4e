#!/usr/bin/env bash
# Tests the C library: native/c/test.sh [--instrumented] [--step N]
#
# Builds and installs the library into a temporary directory. Compiles the examples and the test against it: with the
# shared library, with the static one, and with the address and undefined behavior sanitizers. Runs them on the golden
# databases, where they are and behind a web server of this machine, and, if the variable BSDB names the command that builds
# databases, on some with an order of keys. Tests what an object store can do wrong, and a library that was built without
# the feature remote. Checks the header in C++ and the symbols that the shared library exports. Runs the example in Go if
# go and pkg-config are installed.
#
#   --instrumented  also build the Rust code with the address sanitizer (x86-64 Linux), with the nightly toolchain if
#                   there is one
#   --step N        flip a bit in every N-th byte of each file, 31 by default; 1 takes minutes
#
# Honors BSDB, CC, CXX and CARGO_TARGET_DIR.
set -euo pipefail

fail() {
  printf 'test.sh: %s\n' "$*" >&2
  exit 1
}

say() {
  printf '== %s\n' "$*"
}

# The first of some commands that is installed.
first_of() {
  local command
  for command in "$@"; do
    if [ -n "$command" ] && command -v "$command" > /dev/null 2>&1; then
      printf '%s\n' "$command"
      return
    fi
  done
}

instrumented=false step=31
while [ $# -gt 0 ]; do
  case $1 in
    --instrumented) instrumented=true ;;
    --step)
      [ $# -gt 1 ] || fail "--step needs a number"
      step=$2
      shift
      ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"
      exit 0
      ;;
    *) fail "unknown option: $1" ;;
  esac
  shift
done

root=$(cd -- "$(dirname -- "$0")" && pwd -P)
native=$(dirname -- "$root")
golden=$(cd -- "$native/../bsdb-core/src/test/resources/golden" && pwd -P)
cc=$(first_of "${CC:-}" gcc clang)
cxx=$(first_of "${CXX:-}" g++ clang++)
[ -n "$cc" ] || fail "neither gcc nor clang is installed"

work=$(mktemp -d "${TMPDIR:-/tmp}/bsdb-test-c.XXXXXX")
store=
finish() {
  [ -z "$store" ] || kill "$store" || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
prefix=$work/prefix

say "building"
"$root/install.sh" "$prefix"
(cd "$native" && cargo build --quiet --locked --package bsdb --features remote --example objects)
(cd "$native" && cargo build --quiet --locked --profile smoke --package bsdb-c --no-default-features)
target=$(cd "$native" && cd "${CARGO_TARGET_DIR:-target}" && pwd -P)
objects=$target/debug/examples/objects
# What the environment says about object stores and proxies would count.
for name in $(compgen -e AWS_ || true); do
  unset "$name"
done
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
if command -v pkg-config > /dev/null 2>&1; then
  read -r -a cflags <<< "$(pkg-config --cflags bsdb)"
  read -r -a libs <<< "$(pkg-config --libs bsdb)"
else
  cflags=("-I$prefix/include")
  libs=("-L$prefix/lib" -lbsdb)
fi
libs+=("-Wl,-rpath,$prefix/lib")
read -r -a system <<< "$(sed -n 's/^Libs.private: //p' "$prefix/lib/pkgconfig/bsdb.pc")"
strict=(-std=c99 -Wall -Wextra -Werror -pedantic)

# What pkg-config prints is quoted for a shell.
if command -v pkg-config > /dev/null 2>&1; then
  say "a path with spaces"
  spaced="$work/a b'c#d"
  "$root/install.sh" "$spaced" "$prefix/lib"
  eval "flags=($(PKG_CONFIG_PATH="$spaced/lib/pkgconfig" pkg-config --cflags --libs bsdb))"
  [ "${flags[*]}" = "-I$spaced/include -L$spaced/lib -lbsdb" ] || fail "bsdb.pc says: ${flags[*]}"
  if "$root/install.sh" "$work/a\$b" "$prefix/lib" 2> "$work/message"; then
    fail "install.sh takes a path that bsdb.pc cannot hold"
  fi
  grep -q 'which bsdb.pc cannot hold' "$work/message" || fail "install.sh says: $(cat "$work/message")"
fi

# Runs the example NAME on a golden database and compares what it prints.
check_lookup() {
  local found expected
  expected="3 records, layout blocked
bsdb = build and serve, build and serve, build and serve
bsdb has 49 bytes, mapped
empty = 
empty has 0 bytes, mapped
absent is absent
2 of 3 keys found
79 bytes in all records"
  found=$("$1" "$golden/v1-blocked" bsdb empty absent) || fail "$1 failed"
  [ "$found" = "$expected" ] || fail "$1 prints: $found"
  if "$1" "$work/missing" bsdb 2> "$work/message"; then
    fail "$1 opens a directory that is missing"
  fi
  grep -q "$work/missing" "$work/message" || fail "$1 says: $(cat "$work/message")"
}

# Runs the example NAME, which builds, and looks up what it built.
check_build() {
  local found
  rm -rf "$work/example"
  printf 'one\tfirst\ntwo\t\n' | "$1" "$work/example" layout=blocked ordered=true 2> "$work/message" > "$work/built" ||
    fail "$1 says: $(cat "$work/message")"
  grep -q "^2 records in $work/example, id " "$work/built" || fail "$1 prints: $(cat "$work/built")"
  found=$("$work/lookup" "$work/example" one two) || fail "$1 builds what cannot be read"
  grep -q '^one = first$' <<< "$found" || fail "$1 builds: $found"
  if [ -n "${BSDB:-}" ]; then
    printf 'one\tfirst\ntwo\t\n' | "${builder[@]}" build -q -i - -s '\t' --layout blocked --ordered \
      --overwrite -o "$work/same"
    diff -r "$work/same" "$work/example" || fail "$1 builds other files than $BSDB"
  fi
  if printf 'one\tfirst\n' | "$1" "$work/example" 2> "$work/message"; then
    fail "$1 replaces a database"
  fi
  grep -q 'create: exists: ' "$work/message" || fail "$1 says: $(cat "$work/message")"
}

# Runs the test NAME on all golden databases, there and behind a web server.
check_abi() {
  rm -rf "$work/copies"
  mkdir "$work/copies"
  serve "$golden"
  "$1" "$golden" "$root/tests/records" "$work/copies" "$2" "$url" || fail "$1 failed"
}

# Serves a directory as an object store, at $url, instead of the one before.
serve() {
  [ -z "$store" ] || kill "$store" || true
  : > "$work/url"
  "$objects" "$1" > "$work/url" &
  store=$!
  for _ in $(seq 600); do
    url=$(cat "$work/url")
    [ -z "$url" ] || return 0
    sleep 0.1
  done
  fail "the object store does not start"
}

# Runs the test NAME of databases elsewhere.
check_elsewhere() {
  rm -rf "$work/served"
  mkdir "$work/served"
  serve "$work/served"
  "$1" "$url" "$work/served" || fail "$1 failed"
}

# Runs the example NAME, which looks up keys elsewhere, on a golden database.
check_remote() {
  local found expected
  serve "$golden"
  expected="3 records in s3://bucket/v1-packed
bsdb = build and serve, build and serve, build and serve
empty = 
absent is absent"
  found=$("$1" s3://bucket/v1-packed "endpoint_url=$url" key=id secret=hidden -- bsdb empty absent) || fail "$1 failed"
  grep -q '^[3-6] requests, [0-9]* bytes$' <<< "$found" || fail "$1 prints: $found"
  [ "$(grep -v ' requests, ' <<< "$found")" = "$expected" ] || fail "$1 prints: $found"
  if "$1" "$url/missing" -- bsdb 2> "$work/message"; then
    fail "$1 opens a URL that leads to nothing"
  fi
  grep -q "$url/missing: .*check the URL" "$work/message" || fail "$1 says: $(cat "$work/message")"
}

if [ -n "${BSDB:-}" ]; then
  say "databases with an order of keys"
  cp -R "$golden" "$work/golden"
  golden=$work/golden
  printf 'bsdb|build and serve, build and serve, build and serve\nempty|\n|an empty key is a key\n' > "$work/three.txt"
  read -r -a builder <<< "$BSDB"
  for layout in compressed packed; do
    "${builder[@]}" build -q -i "$work/three.txt" -s '|' --allow-empty-key --layout "$layout" --ordered \
      -o "$golden/ordered-$layout"
  done
fi

say "the header in C and C++"
"$cc" "${strict[@]}" -x c -fsyntax-only "$prefix/include/bsdb.h"
printf '#include <bsdb.h>\n#include <bsdb.h>\nint main() { bsdb_options o = BSDB_OPTIONS; return o.flags; }\n' \
  > "$work/header.cc"
if [ -n "$cxx" ]; then
  for standard in c++11 c++17; do
    "$cxx" "-std=$standard" -Wall -Wextra -Werror -pedantic -x c++ -fsyntax-only "$prefix/include/bsdb.h"
    "$cxx" "-std=$standard" -Wall -Wextra -Werror -pedantic "${cflags[@]}" -fsyntax-only "$work/header.cc"
  done
else
  say "no C++ compiler: not checked in C++"
fi

say "exported symbols"
if [ -e "$prefix/lib/libbsdb.so" ] && command -v nm > /dev/null 2>&1; then
  nm -D --defined-only "$prefix/lib/libbsdb.so" | awk '{ print $NF }' | sort > "$work/exported"
  if grep -v '^bsdb_' "$work/exported"; then
    fail "the library exports other symbols than bsdb_*"
  fi
  grep -o '\bbsdb_[a-z_]*(' "$prefix/include/bsdb.h" | tr -d '(' | sort -u > "$work/declared"
  diff "$work/declared" "$work/exported" || fail "the header declares other functions than the library exports"
  printf '%s functions\n' "$(wc -l < "$work/exported")"
else
  say "no nm or no ELF: not checked"
fi

say "shared library"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/examples/lookup.c" "${libs[@]}" -o "$work/lookup"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/tests/abi.c" "${libs[@]}" -lpthread -o "$work/abi"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/examples/build.c" "${libs[@]}" -o "$work/build"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/examples/remote.c" "${libs[@]}" -lpthread -o "$work/remote"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/tests/elsewhere.c" "${libs[@]}" -lpthread -o "$work/elsewhere"
check_lookup "$work/lookup"
check_build "$work/build"
check_abi "$work/abi" "$step"
check_remote "$work/remote"
check_elsewhere "$work/elsewhere"

say "without the feature remote"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/tests/elsewhere.c" "$target/smoke/libbsdb.a" "${system[@]}" \
  -o "$work/without"
"$work/without"

if [ -n "${BSDB:-}" ] && [ "$(uname -s)" = Linux ]; then
  say "values that do not fit in memory"
  {
    printf 'small value\nlong '
    head -c 73400320 /dev/zero | tr '\0' x
    printf '\n'
  } > "$work/long.txt"
  "$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/tests/memory.c" "${libs[@]}" -o "$work/memory"
  for layout in blocked compressed; do
    "${builder[@]}" build -q -i "$work/long.txt" --layout "$layout" -o "$work/long-$layout"
    "$work/memory" "$work/long-$layout"
  done
fi

say "static library"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/examples/lookup.c" "$prefix/lib/libbsdb.a" "${system[@]}" \
  -o "$work/lookup-static"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/examples/build.c" "$prefix/lib/libbsdb.a" "${system[@]}" \
  -o "$work/build-static"
"$cc" "${strict[@]}" -O2 "${cflags[@]}" "$root/tests/elsewhere.c" "$prefix/lib/libbsdb.a" "${system[@]}" \
  -o "$work/elsewhere-static"
check_lookup "$work/lookup-static"
check_build "$work/build-static"
check_elsewhere "$work/elsewhere-static"

say "sanitizers"
sanitized=(-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
"$cc" "${strict[@]}" "${sanitized[@]}" "${cflags[@]}" "$root/examples/lookup.c" "${libs[@]}" -o "$work/lookup-sanitized"
"$cc" "${strict[@]}" "${sanitized[@]}" "${cflags[@]}" "$root/tests/abi.c" "${libs[@]}" -lpthread \
  -o "$work/abi-sanitized"
"$cc" "${strict[@]}" "${sanitized[@]}" "${cflags[@]}" "$root/examples/build.c" "${libs[@]}" -o "$work/build-sanitized"
"$cc" "${strict[@]}" "${sanitized[@]}" "${cflags[@]}" "$root/examples/remote.c" "${libs[@]}" -lpthread \
  -o "$work/remote-sanitized"
"$cc" "${strict[@]}" "${sanitized[@]}" "${cflags[@]}" "$root/tests/elsewhere.c" "${libs[@]}" -lpthread \
  -o "$work/elsewhere-sanitized"
check_lookup "$work/lookup-sanitized"
check_build "$work/build-sanitized"
check_abi "$work/abi-sanitized" "$step"
check_remote "$work/remote-sanitized"
check_elsewhere "$work/elsewhere-sanitized"

go=$(first_of go)
if [ -n "$go" ] && command -v pkg-config > /dev/null 2>&1; then
  say "Go"
  (
    cd "$root/examples/go"
    CC=$cc CGO_ENABLED=1 CGO_LDFLAGS="-Wl,-rpath,$prefix/lib" GOFLAGS=-mod=mod GOTOOLCHAIN=local "$go" build \
      -o "$work/lookup-go" .
  )
  found=$(GODEBUG=cgocheck=1 "$work/lookup-go" "$golden/v1-blocked" bsdb empty '' absent)
  expected="bsdb = build and serve, build and serve, build and serve
empty = 
 = an empty key is a key
absent is absent
3 of 4 keys found"
  [ "$found" = "$expected" ] || fail "the example in Go prints: $found"
  if "$work/lookup-go" "$work/missing" bsdb 2> "$work/message"; then
    fail "the example in Go opens a directory that is missing"
  fi
  grep -q "$work/missing" "$work/message" || fail "the example in Go says: $(cat "$work/message")"
else
  say "no go or no pkg-config: the example in Go was not run"
fi

if $instrumented; then
  say "instrumented"
  triple=x86_64-unknown-linux-gnu
  [ "$(uname -sm)" = "Linux x86_64" ] || fail "--instrumented needs x86-64 Linux"
  if cargo +nightly --version > /dev/null 2>&1; then
    toolchain=(+nightly)
  else
    toolchain=()
    export RUSTC_BOOTSTRAP=1
  fi
  runtime=$(find "$(rustc "${toolchain[@]}" --print sysroot)/lib/rustlib/$triple/lib" -name 'librustc-*_rt.asan.a')
  [ -n "$runtime" ] || fail "this toolchain has no runtime of the address sanitizer"
  (
    cd "$native"
    RUSTFLAGS=-Zsanitizer=address cargo "${toolchain[@]}" build --release --package bsdb-c --target "$triple"
  )
  built=$(cd "$native" && cd "${CARGO_TARGET_DIR:-target}/$triple/release" && pwd -P)
  nm "$built/libbsdb.a" 2> /dev/null > "$work/symbols" || true
  grep -q ' U __asan_report_' "$work/symbols" || fail "the Rust code is not instrumented"
  # The test is instrumented by the C compiler and linked with the runtime of Rust, so that there is only one.
  for name in examples/lookup examples/build examples/remote tests/abi tests/elsewhere; do
    program=$work/$(basename "$name")-instrumented
    "$cc" "${strict[@]}" -O1 -g -fsanitize=address "${cflags[@]}" -c "$root/$name.c" -o "$program.o"
    "$cc" "$program.o" "$built/libbsdb.a" -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
      -Wl,--export-dynamic "${system[@]}" -lstdc++ -o "$program"
  done
  check_lookup "$work/lookup-instrumented"
  check_build "$work/build-instrumented"
  check_abi "$work/abi-instrumented" "$step"
  check_remote "$work/remote-instrumented"
  check_elsewhere "$work/elsewhere-instrumented"
fi
say "all well"
