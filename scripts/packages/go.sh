#!/usr/bin/env bash
# Builds the package for Go, an archive of the module with the program beside it, and tries it. scripts/package.sh runs this.
#
#   CLIENT_GO_DIR=DIR scripts/package.sh --test go    with client-go from the folder vendor of the Go module in DIR
#   GO_MODULE=PATH scripts/package.sh --test go       leaves the sources of a module of that path in target/package-go-module, to be tagged
# shellcheck source=scripts/packages/common.sh
. scripts/packages/common.sh

readonly SOURCE=$PWD/fakeserver/packages/go
# By which others import it, once it is tagged.
readonly MODULE=${GO_MODULE:-example.org/fakeserver}

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

# Prints a test that needs the standard library only, with the module under the path $1.
core_test() {
    cat <<TEST
package core_test

import (
	"testing"

	"$1/process"
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
}

try_core() {
    mkdir "$work/core"
    cd "$work/core"
    core_test fakeserver >core_test.go
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

# Writes the sources as a module that is published by a tag, in a repository of its own, and prints their folder.
module() {
    local folder
    folder=$(fresh go-module)
    cp -r "$SOURCE/." LICENSE "$folder"
    sed -i "s|^module fakeserver$|module $MODULE|" "$folder/go.mod"
    find "$folder" -name '*.go' -o -name README.md |
        xargs sed -i -E "s|^(\t\|import )\"fakeserver(/[a-z/]+)?\"$|\1\"$MODULE\2\"|"
    git -C "$folder" init --quiet
    git -C "$folder" add .
    git -C "$folder" -c user.name=package -c user.email=package commit --quiet --message "$MODULE"
    git -C "$folder" tag "$1"
    echo "$folder"
}

# A test with the tagged module, as a module proxy serves it. Of client-go, which the test does not import, only a go.mod is read.
try_tagged() {
    local version folder proxy=$work/proxy
    version=v$(cd "$repository" && version)
    folder=$(cd "$repository" && module "$version")
    mkdir -p "$proxy"/{"$MODULE",k8s.io/client-go}/@v "$work/tagged"
    echo "module k8s.io/client-go" >"$proxy/k8s.io/client-go/@v/$(sed -n 's/^require k8s.io.client-go //p' "$folder/go.mod").mod"
    proxy+=/$MODULE/@v/$version
    echo "{\"Version\": \"$version\"}" >"$proxy.info"
    cp "$folder/go.mod" "$proxy.mod"
    git -C "$folder" archive --format=zip --prefix="$MODULE@$version/" --output="$proxy.zip" "$version"
    cd "$work/tagged"
    core_test "$MODULE" >core_test.go
    local offline=(env "GOPROXY=file://$work/proxy" GONOSUMDB="*" "FAKESERVER_BIN=$work/fakeserver/bin/fakeserver")
    in_empty go mod init tagged 2>/dev/null
    in_empty "${offline[@]}" go get "$MODULE/process@$version"
    in_empty "${offline[@]}" go test .
}

try() {
    need go 'Go 1.26 or newer, from its own installer'
    local repository=$PWD
    conformance=$(conformance go)
    work=$(fresh go-try)
    mkdir "$work/home"
    tar -C "$work" -xf "$1"
    (try_core)
    (try_tagged)
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
