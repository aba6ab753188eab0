#!/bin/bash -eu
# The builder calls this file by its place; what it does is in the repository, where people can run it, too.
"$SRC/repository/fuzz/build.sh"
