#!/usr/bin/env bash
# tflite.sh CONFORMANCE NNBURSTD LOAD DRIVER_BOTH BUILD_DIR -- real models, MediaPipe's, from npm in pinned versions,
# fetched once for a build: they load, and run by bursts and by calls, with the same bits; XNNPACK and the plain kernel
# give the same outputs for each of their operations (DRIVER_BOTH). Models with unsupported operators are refused by
# name and place. Skipped where npm fetches nothing.
set -euo pipefail

conformance=$1 service=$2 load=$3 both=$4 build=$5 failures=0
. "$(dirname "$0")/../daemon.sh"
. "$(dirname "$0")/../npm.sh"
. "$(dirname "$0")/../mediapipe.sh"

wrong()
{
	echo "tflite.sh: $*"
	failures=$((failures + 1))
}

# ends STATUS COMMAND...: it must end with STATUS; $said has its standard error.
ends()
{
	local wanted=$1 status=0
	shift
	said=$("$@" 2>&1) || status=$?
	((status == wanted)) || wrong "'$*' ends with $status, not $wanted: $said"
}

says() # WORDS
{
	[[ $said == *"$1"* ]] || wrong "not said: $1 (but: $said)"
}

fetch_mediapipe "$build"
link_mediapipe "$tmp/models"

ends 0 "$conformance" --driver "$both" --memory both "$tmp/models"
says '4 passed, 0 failed, 0 skipped'

start_daemon "$service"
ends 0 "$conformance" --socket "$tmp/socket" --path both "$tmp/models"
says '4 passed, 0 failed, 0 skipped'
for model in "${mediapipe_models[@]}"; do
	ends 0 "$load" --socket "$tmp/socket" --duration 200ms --model "$models/$model.tflite"
	says 'one app that runs one model by bursts'
done
stop_daemon

# Only the file is given: nnburst-load starts a service of its own.
ends 0 "$load" --service --duration 200ms --model "$models/hands/hand_landmark_lite.tflite"
says 'driver xnnpack'

ends 0 "$conformance" "$models/selfie_segmentation/selfie_segmentation.tflite"
says "skipped selfie_segmentation: subgraph 0, operator 244 (custom operator Convolution2DTransposeBias, which gives 'segment'): not supported; 245 of its 246 operators are"
ends 4 "$load" --service --model "$models/selfie_segmentation/selfie_segmentation.tflite"
says "operator 244 (custom operator Convolution2DTransposeBias, which gives 'segment')"
ends 0 "$conformance" "$models/face_detection/face_detection_full_range_sparse.tflite"
says "skipped face_detection_full_range_sparse: subgraph 0, operator 8 (DENSIFY, which gives 'model_1/model/conv2d_1/Conv2D_dequantize1'): not supported; 342 of its 388 operators are; these are not: DENSIFY (46)"

# Larger than the process's memory limit: a sparse file takes no room on the disk.
cp "$models/face_detection/face_detection_short_range.tflite" "$tmp/large.tflite"
truncate -s 3G "$tmp/large.tflite"
ends 1 bash -c 'ulimit -v 1000000 && exec "$@"' bash "$conformance" "$tmp/large.tflite"
says 'large: its 3221225472 bytes cannot be mapped: Cannot allocate memory'
ends 4 bash -c 'ulimit -v 1000000 && exec "$@"' bash "$load" --service --model "$tmp/large.tflite"
says 'large.tflite: its 3221225472 bytes cannot be mapped: Cannot allocate memory'
rm "$tmp/large.tflite"

# A file that is cut short is refused with the byte.
head -c 100000 "$models/face_detection/face_detection_short_range.tflite" >"$tmp/cut.tflite"
ends 1 "$conformance" "$tmp/cut.tflite"
says 'FAILED  cut: '

((failures == 0))
