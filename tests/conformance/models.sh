#!/usr/bin/env bash
# models.sh PROGRAM -- the models of $NNB_MODELS_DIR through nnburst-conformance, prepared ordinarily and from a cache:
# none fails. Skipped where the variable names no directory.
set -euo pipefail

program=$1 models=${NNB_MODELS_DIR:-}
if [[ ! -d $models ]]; then
	echo "skipped: NNB_MODELS_DIR names no directory of model files"
	exit 77
fi
cache=$(mktemp -d)
trap 'rm -r "$cache"' EXIT
"$program" --quiet "$models"
"$program" --quiet --cache "$cache" "$models"
