# Builds a program on client-go; scripts that need one read this file.
# shellcheck shell=bash

# build_client_go SOURCES PROGRAM [VERSION]: with client-go from the folder vendor of the Go module in CLIENT_GO_DIR, if it is
# given, or else of this version, or that of the sources. Prints why it cannot, and fails.
build_client_go() {
    local sources=$1 program=$2 version=${3:-} folder
    folder=$(dirname "$program")
    if ! command -v go >/dev/null; then
        echo "there is no go on this machine"
        return 1
    fi
    mkdir -p "$folder"
    if [ -n "${CLIENT_GO_DIR:-}" ]; then
        (cd "$CLIENT_GO_DIR" && go build -mod=vendor -o "$program" "$sources"/*.go) >&2
        return
    fi
    cp "$sources/"* "$folder"
    if [ -n "$version" ]; then
        (cd "$folder" && go mod edit "-require=k8s.io/"{api,apimachinery,client-go}"@$version")
    fi
    if ! (cd "$folder" && go mod tidy && go build -o "$program" .) >"$folder/log" 2>&1; then
        echo "its modules cannot be had, see $folder/log; CLIENT_GO_DIR can name a module that vendors them"
        return 1
    fi
}
