#!/usr/bin/env bash
# The gate: proves the receivers against a real PostgreSQL. See --help.
set -euo pipefail

# fail TEXT...: the lab cannot judge without this.
fail() {
  printf 'run_lab.sh: %s\n' "$@" >&2
  exit 2
}

# here: the folder of this file, through any number of symbolic links.
here() {
  local file=${BASH_SOURCE[0]} target
  while [[ -L $file ]]; do
    target=$(readlink "$file")
    [[ $target == /* ]] || target=$(dirname "$file")/$target
    file=$target
  done
  cd "$(dirname "$file")" && pwd -P
}

# at_least HAVE WANT: compares versions such as 1.26.8 and 1.26.0.
at_least() {
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# go_version: of the Go in PATH, "" without one. Its own toolchain, not one it would download.
go_version() {
  GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//; s/ .*//' || true
}

# enough: the Go in PATH can build this, by itself or by a toolchain that it can get.
enough() {
  local have
  have=$(go_version)
  [[ -n $have ]] && { at_least "$have" "$want" || (cd "$root" && go version) >/dev/null 2>&1; }
}

# offered: the version of Go that the system's package manager would install, "" for none.
offered() {
  if command -v apt-get >/dev/null; then
    apt-get update -qq >&2 || true
    apt-cache policy golang-go | sed -n 's/^ *Candidate: *\([0-9]*:\)*\([0-9.]*\).*/\2/p'
  elif command -v dnf >/dev/null; then
    dnf -q repoquery --latest-limit 1 --qf '%{version}\n' golang | head -n 1
  elif command -v apk >/dev/null; then
    apk update -q >&2 || true
    apk list go 2>/dev/null | sed -n 's/^go-\([0-9.]*\)-.*/\1/p' | head -n 1
  elif command -v brew >/dev/null; then
    brew info --json=v2 go | sed -n 's/.*"stable": *"\([0-9.]*\)".*/\1/p' | head -n 1
  fi
}

# install_go: through the package manager, where that has one which is new enough to be of use:
# from 1.21 on, Go fetches the toolchain that a module asks for.
install_go() {
  local new
  new=$(offered)
  if [[ -z $new ]] || ! at_least "$new" 1.21; then
    printf 'run_lab.sh: the package manager offers Go %s: too old\n' "${new:-not at all}" >&2
    return 1
  fi
  printf 'run_lab.sh: installing Go %s through the package manager\n' "$new" >&2
  if command -v apt-get; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq golang-go
  elif command -v dnf; then
    dnf install -y -q golang
  elif command -v apk; then
    apk add -q go
  else
    brew install --quiet go
  fi >&2
}

root=$(here)
want=$(sed -n 's/^go //p' "$root/go.mod")

install=no
for argument in "$@"; do
  case $argument in --install | -install) install=yes ;; esac
done
[[ ${CI:-} == true && $(id -u) == 0 ]] && install=yes

if ! enough && [[ $install == yes ]]; then
  install_go || true
  hash -r
fi
if ! enough; then
  have=$(go_version)
  way="Get it from https://go.dev/dl/ and put its bin folder first in PATH"
  [[ $install == yes ]] || way+=", or try ./run_lab.sh --install"
  fail "this needs Go $want or newer, and found ${have:-none in PATH}." "$way."
fi

# Built, not "go run": so that this shell can be replaced, and signals reach the lab itself.
lab=$root/logs/.bin/lab
if ! mkdir -p "$root/logs/.bin" 2>/dev/null || [[ ! -w $root/logs/.bin ]]; then
  lab=${XDG_CACHE_HOME:-$HOME/.cache}/webhooklab/lab
  mkdir -p "$(dirname "$lab")" || fail "no folder to build the command in: set XDG_CACHE_HOME."
fi
fresh=$lab.$$
go build -C "$root" -o "$fresh" ./lab/cmd/lab || fail "the command did not build; see above."
mv -f "$fresh" "$lab"

export LAB_ROOT=$root
exec "$lab" run "$@"
