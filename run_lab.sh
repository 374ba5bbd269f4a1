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

# install_go: through the system's package manager, which may well have none or an older one.
install_go() {
  printf 'run_lab.sh: installing Go through the package manager\n' >&2
  if command -v apt-get; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq golang-go
  elif command -v dnf; then
    dnf install -y -q golang
  elif command -v apk; then
    apk add -q go
  elif command -v brew; then
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
  fail "this needs Go $want or newer, and found ${have:-none in PATH}." \
    "Get it from https://go.dev/dl/ and put its bin folder first in PATH," \
    "or run ./run_lab.sh --install to take what the package manager offers."
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
