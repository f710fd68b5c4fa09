#!/usr/bin/env bash
# models.sh PROGRAM NNBURSTD DRIVER... -- nnburst-conformance runs the models of $NNB_MODELS_DIR, and of V1_1 to V1_3
# in it: prepared ordinarily and from a cache, interrupted at every checkpoint, and by the service on all its paths; in
# shared memory, in the device's, and in that of each DRIVER. None may fail; those with unsupported operations count as
# skipped. The test is skipped where the variable names no directory.
set -euo pipefail

program=$1 nnburstd=$2 models=${NNB_MODELS_DIR:-}
if [[ ! -d $models ]]; then
	echo "skipped: NNB_MODELS_DIR names no directory of model files"
	exit 77
fi
. "$(dirname "$0")/../daemon.sh"

# Expected outputs that no right driver gives. concat_quant8_signed_1 has the outputs of a quantised variant, whose
# scale limits values to 1; but this model joins floats of up to 7.3, which joining does not change.
wrong=(concat_quant8_signed_1)
proof='output 0[1] is -3, not -1; 15 of 16 elements differ'

# select_models DIR: put its models, except the wrong ones, in $selected.
select_models()
{
	local name

	selected=$tmp/models/$(basename "$1")
	mkdir -p "$selected"
	ln -s "$1"/*.json "$selected"
	for name in "${wrong[@]}"; do
		rm -f "$selected/$name.json"
	done
}

# run_models TITLE ARGUMENT...: print how many passed, and the failures.
run_models()
{
	local title=$1 status=0
	shift

	"$program" --quiet "$@" "$selected" >"$tmp/said" || status=$?
	grep -v '^skipped' "$tmp/said" | sed "s/^/$(basename "$selected"), $title: /"
	return $status
}

run_directory()
{
	local failed=0 driver

	mkdir -p "$tmp/cache"
	select_models "$1"
	run_models plain || failed=1
	run_models cached --cache "$tmp/cache" || failed=1
	run_models preempted --preempt both --memory both || failed=1
	for driver in "${drivers[@]}"; do
		run_models "preempted, $(basename "$driver")" --driver "$driver" --preempt both --memory both || failed=1
	done
	start_daemon "$nnburstd"
	run_models "through the service" --path all --memory both --socket "$socket" || failed=1
	stop_daemon
	return $failed
}

drivers=("${@:3}")
failed=0
if [[ -e $models/V1_3/${wrong[0]}.json ]]; then
	said=$("$program" "$models/V1_3/${wrong[0]}.json") || true # it fails
	[[ $said == *"$proof"* ]] || { echo "${wrong[0]} is not wrong in the way that it is left out for: $said"; failed=1; }
fi
for directory in "$models" "$models"/V1_*/; do
	[[ ! -d $directory ]] || run_directory "${directory%/}" || failed=1
done
exit $failed
