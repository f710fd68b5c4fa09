#!/usr/bin/env bash
# models.sh PROGRAM NNBURSTD DRIVER... -- the models of $NNB_MODELS_DIR through nnburst-conformance: prepared ordinarily and
# from a cache, interrupted at every checkpoint, and by the service on all its paths; in shared memory, in the device's, and
# in that of each DRIVER. None fails. Skipped where the variable names no directory.
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
"$program" --quiet --preempt both --memory both "$models"
for driver in "${@:3}"; do
	"$program" --quiet --driver "$driver" --preempt both --memory both "$models"
done
start_daemon "$nnburstd"
"$program" --quiet --path all --memory both --socket "$socket" "$models"
stop_daemon
