#!/usr/bin/env bash
# tflite_peer.sh TFLITE_PEER BUILD_DIR -- TensorFlow Lite itself, as WebAssembly from npm in a pinned version, runs
# MediaPipe's models and the samples of the loader's tests with random inputs; the driver must give the same outputs.
# Skipped where npm fetches nothing.
set -euo pipefail

peer=$1 build=$2 failures=0
here=$(dirname "$0")
. "$here/../npm.sh"
. "$here/../mediapipe.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

wrong()
{
	echo "tflite_peer.sh: $*"
	failures=$((failures + 1))
}

fetch_mediapipe "$build"
# --legacy-peer-deps: the WebAssembly alone, without TensorFlow.js
npm_config_legacy_peer_deps=true fetched "$build/npm-tflite" @tensorflow/tfjs-tflite@0.0.1-alpha.10
link_mediapipe "$tmp/models"
"$peer" write "$tmp/models"
rm "$tmp"/models/sample-{3,4}.tflite # this version accepts neither INT64 shapes nor buffers behind the root
mkdir "$tmp/io"
node "$here/tflite_peer.mjs" "$build/npm-tflite/node_modules/@tensorflow/tfjs-tflite" "$tmp/io" "$tmp"/models/*.tflite

for model in "$tmp"/models/*.tflite; do
	name=$(basename "$model" .tflite)
	off=()
	[[ $name != sample-5 ]] || off=(0.01) # with weights of bytes TensorFlow Lite rounds the inputs to bytes
	echo "$name"
	"$peer" compare "$model" "$tmp/io/$name" "${off[@]}" || wrong "$name gives something else"
done

# Other inputs give other outputs; otherwise the comparison proves nothing.
input=$tmp/io/hand_landmark_lite.in.0
head -c "$(stat -c %s "$input")" /dev/zero >"$tmp/zeroes"
mv "$tmp/zeroes" "$input"
if "$peer" compare "$tmp/models/hand_landmark_lite.tflite" "$tmp/io/hand_landmark_lite" >"$tmp/said"; then
	wrong 'outputs of other inputs are taken for the same'
fi

((failures == 0))
