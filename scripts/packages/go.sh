#!/usr/bin/env bash
# Builds the package for Go, an archive of the module with the program beside it, and tries it. scripts/package.sh runs this.
#
#   CLIENT_GO_DIR=DIR scripts/package.sh --test go    with client-go from the folder vendor of the Go module in DIR
# shellcheck source=scripts/packages/common.sh
. scripts/packages/common.sh

readonly SOURCE=$PWD/fakeserver/packages/go

build() {
    local work version program
    program=$(program)
    version=$(version)
    work=$(fresh go)
    cp -r "$SOURCE" "$work/fakeserver"
    cp LICENSE "$work/fakeserver"
    install -D -m 755 "$program" "$work/fakeserver/bin/fakeserver"
    local archive=$PACKAGES/fakeserver-go-$version.tar.gz
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$archive" fakeserver
    echo "$archive"
}

# in_empty COMMAND...: with neither Rust nor a home nor a network, in the current directory.
in_empty() {
    env -i "PATH=$(dirname "$(command -v go)"):/usr/bin:/bin" "HOME=$work/home" "GOCACHE=${GOCACHE:-$TARGET/go-cache}" \
        "GOMODCACHE=$work/modules" "CONFORMANCE_BIN=$conformance" GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-count=1 timeout 600 "$@"
}

# Prints the README's test.
readme_test() { awk '/^```/{ is_in = ($0 == "```go" && ++count == 1); next } is_in' "$SOURCE/README.md"; }

# The test of a module that needs the standard library only.
try_core() {
    mkdir "$work/core"
    cd "$work/core"
    cat >core_test.go <<'TEST'
package core_test

import (
	"testing"

	"fakeserver/process"
)

func TestStats(t *testing.T) {
	server, err := process.Start(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if stats, err := server.Control.Stats(t.Context()); err != nil || stats.Revision == 0 {
		t.Fatal(stats, err)
	}
}
TEST
    in_empty go mod init core 2>/dev/null
    in_empty go mod edit -require "fakeserver@v$(cd "$repository" && version)" -replace fakeserver=../fakeserver
    in_empty go test .
    cd "$work/fakeserver"
    in_empty go vet ./process ./control ./survive
    in_empty go test ./process ./control ./survive
}

# The README's test and those of the whole module, with client-go from a folder vendor.
try_vendored() {
    local version=v$(cd "$repository" && version)
    mkdir -p "$work/shop/vendor"
    cd "$work/shop"
    cp "$CLIENT_GO_DIR/go.mod" .
    in_empty go mod edit -module shop -require "fakeserver@$version" -replace fakeserver=../fakeserver
    ln -s "$CLIENT_GO_DIR"/vendor/*/ vendor
    cp -r "$work/fakeserver" vendor/fakeserver
    {
        cat "$CLIENT_GO_DIR/vendor/modules.txt"
        printf '%s\n' "# fakeserver $version => ../fakeserver" '## explicit; go 1.26.0' fakeserver fakeserver/control fakeserver/internal/program fakeserver/process fakeserver/survive
        echo '# fakeserver => ../fakeserver'
    } >vendor/modules.txt
    readme_test >readme_test.go
    in_empty go test -mod=vendor . fakeserver
}

try() {
    need go 'Go 1.26 or newer, from its own installer'
    local repository=$PWD
    conformance=$(conformance go)
    work=$(fresh go-try)
    mkdir "$work/home"
    tar -C "$work" -xf "$1"
    (try_core)
    if [ -z "${CLIENT_GO_DIR:-}" ]; then
        echo "package: go: client-go: SKIPPED, CLIENT_GO_DIR names no module that vendors it"
        return
    fi
    CLIENT_GO_DIR=$(realpath "$CLIENT_GO_DIR")
    (try_vendored)
}

case $1 in
build) build ;;
try)
    shift
    try "$@"
    ;;
esac
