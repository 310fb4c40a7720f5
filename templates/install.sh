#!/bin/sh
# Installs a release of locktest, or builds it from source, and runs nothing.
#
#   LOCKTEST_VERSION   a release, such as v1.2.3; empty: built by `go build` from LOCKTEST_SOURCE
#   LOCKTEST_SOURCE    a folder with locktest's source
#   LOCKTEST_BIN       the folder that the program goes to (default: $HOME/.local/bin)
#   LOCKTEST_RELEASES  where releases are (default: those on GitHub)
set -eu

bin=${LOCKTEST_BIN:-$HOME/.local/bin}
mkdir -p "$bin"

if [ -z "${LOCKTEST_VERSION:-}" ]; then
  [ -n "${LOCKTEST_SOURCE:-}" ] || { echo "locktest: neither LOCKTEST_VERSION nor LOCKTEST_SOURCE is set" >&2; exit 1; }
  (cd "$LOCKTEST_SOURCE" && CGO_ENABLED=0 go build -trimpath -o "$bin/locktest" ./cmd/locktest)
  exit 0
fi

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) echo "locktest: there is no release for $(uname -s)" >&2; exit 1 ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) echo "locktest: there is no release for $(uname -m)" >&2; exit 1 ;;
esac

name=locktest_${LOCKTEST_VERSION}_${os}_${arch}
from=${LOCKTEST_RELEASES:-https://github.com/locktest/locktest/releases/download}/$LOCKTEST_VERSION
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
curl -fsSL --retry 3 -O "$from/$name" -O "$from/SHA256SUMS"
grep " $name\$" SHA256SUMS > sum || { echo "locktest: SHA256SUMS of $LOCKTEST_VERSION does not name $name" >&2; exit 1; }
if command -v sha256sum >/dev/null; then sha256sum -c sum; else shasum -a 256 -c sum; fi
chmod +x "$name"
mv "$name" "$bin/locktest"
