#!/bin/sh
# Checks the files in .github: build-support/check_workflows.sh
#
# actionlint checks the workflows, with shellcheck their commands if it is installed; check-jsonschema checks workflows, issue
# forms and dependabot.yml by their schemas. Actions of others must be pinned to a commit. Both tools are used from the PATH, or
# else installed below target/workflows: actionlint by go, check-jsonschema by python3 with venv.
set -eu

actionlint_version=v1.7.12
check_jsonschema_version=0.39.0

fail() {
  printf 'check_workflows: %s\n' "$*" >&2
  exit 2
}

case ${1:-} in
  -h | --help)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"
    exit 0
    ;;
  ?*) fail "unknown argument: $1" ;;
esac
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
tools=$root/target/workflows
cd "$root"

actionlint=$(command -v actionlint || true)
if [ -z "$actionlint" ]; then
  command -v go >/dev/null 2>&1 || fail "neither actionlint nor go is installed"
  [ -x "$tools/actionlint" ] ||
    GOBIN=$tools go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint_version" || fail "cannot install actionlint"
  actionlint=$tools/actionlint
fi
schema=$(command -v check-jsonschema || true)
if [ -z "$schema" ]; then
  command -v python3 >/dev/null 2>&1 || fail "neither check-jsonschema nor python3 is installed"
  schema=$tools/python/bin/check-jsonschema
  [ -x "$schema" ] || {
    python3 -m venv "$tools/python" &&
      "$tools/python/bin/pip" install --quiet --disable-pip-version-check "check-jsonschema==$check_jsonschema_version"
  } || fail "cannot install check-jsonschema; python3 needs the module venv"
fi

result=0
"$actionlint" .github/workflows/*.yml || result=1
"$schema" --builtin-schema vendor.github-workflows .github/workflows/*.yml || result=1
"$schema" --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml || result=1
"$schema" --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml || result=1
"$schema" --builtin-schema vendor.dependabot .github/dependabot.yml || result=1

# A tag can be moved to other code, a commit cannot.
unpinned=$(grep -n 'uses:' .github/workflows/*.yml | grep -Ev '@[0-9a-f]{40} # v[0-9.]+$|uses: \./') || true
if [ -n "$unpinned" ]; then
  printf 'not pinned to a commit, with its version as a comment:\n%s\n' "$unpinned" >&2
  result=1
fi
# Each script that a step runs is there and can be executed.
for script in $(grep -ohE '(^|[ "])(\./mvnw|\.ci/[a-z-]+|scripts/[a-z0-9-]+|build-support/[a-z_/.]+)' .github/workflows/*.yml | tr -d ' "' | sort -u); do
  [ -x "$script" ] || {
    printf 'a workflow runs %s, which is missing or not executable\n' "$script" >&2
    result=1
  }
done
exit $result
