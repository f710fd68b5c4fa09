#!/usr/bin/env bash
# models.sh PROGRAM NNBURSTD -- the models of $NNB_MODELS_DIR through nnburst-conformance: prepared ordinarily and from a
# cache, and by the service on both its paths. None fails. Skipped where the variable names no directory.
set -euo pipefail

program=$1 nnburstd=$2 models=${NNB_MODELS_DIR:-}
if [[ ! -d $models ]]; then
	echo "skipped: NNB_MODELS_DIR names no directory of model files"
	exit 77
fi
. "$(dirname "$0")/../daemon.sh"
mkdir "$tmp/cache"
"$program" --quiet "$models"
"$program" --quiet --cache "$tmp/cache" "$models"
start_daemon "$nnburstd"
"$program" --quiet --path both --socket "$socket" "$models"
stop_daemon
