#!/usr/bin/env bash
# tracing.sh PROGRAM [ARG...] -- run a program beside a session daemon of its own (tests/lttng.sh); $NNB_TRACES is where its
# traces go.
set -euo pipefail
. "$(dirname "$0")/../lttng.sh"

start_sessiond
NNB_TRACES=$tmp "$@"
