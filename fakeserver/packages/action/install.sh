#!/usr/bin/env bash
# The step of action.yml: installs a wheel into the job's temporary folder, and puts the program on the PATH of later steps.
set -euo pipefail

for name in RUNNER_TEMP GITHUB_PATH GITHUB_ENV FAKESERVER_WHEEL FAKESERVER_ASSETS; do
    if [ -z "${!name:-}" ]; then
        echo "::error::$name is not set: this script is a step of action.yml" >&2
        exit 2
    fi
done
case $FAKESERVER_ASSETS in
true | false) ;;
*)
    echo "::error::assets: \"$FAKESERVER_ASSETS\" is neither true nor false" >&2
    exit 2
    ;;
esac

environment=$RUNNER_TEMP/fakeserver
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check "$FAKESERVER_WHEEL"
echo "$environment/bin" >>"$GITHUB_PATH"
# An empty variable would name a version that there is not.
if [ -n "${FAKESERVER_VERSION:-}" ]; then
    export FAKESERVER_KUBERNETES_VERSION=$FAKESERVER_VERSION
fi
# The folder of assets tells whether there is such a version.
assets=$("$environment/bin/fakeserver" assets "$environment/assets")
if [ -n "${FAKESERVER_VERSION:-}" ]; then
    echo "FAKESERVER_KUBERNETES_VERSION=$FAKESERVER_VERSION" >>"$GITHUB_ENV"
fi
if [ "$FAKESERVER_ASSETS" = true ]; then
    echo "KUBEBUILDER_ASSETS=$assets" >>"$GITHUB_ENV"
fi
"$environment/bin/fakeserver" --version
