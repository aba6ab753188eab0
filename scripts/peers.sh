#!/usr/bin/env bash
# Builds the programs of benches/peers below target/peers, and prints their paths, for `benches figures --client-go PROGRAM`.
#
#   scripts/peers.sh                       where Go and its modules can be had
#   CLIENT_GO_DIR=DIR scripts/peers.sh     with client-go from the folder vendor of the Go module in DIR
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/client_go.sh
. scripts/client_go.sh

readonly SOURCES=$PWD/benches/peers/go
readonly PROGRAM=$PWD/${CARGO_TARGET_DIR:-target}/peers/client-go/client-go-peer

case ${1:-} in
'') ;;
-h | --help)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit
    ;;
*)
    echo "peers: no argument $1; see scripts/peers.sh --help" >&2
    exit 2
    ;;
esac
if ! why=$(build_client_go "$SOURCES" "$PROGRAM"); then
    echo "peers: client-go: ${why:-it does not compile}" >&2
    exit 1
fi
echo "$PROGRAM"
