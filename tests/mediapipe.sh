# shellcheck shell=bash
# mediapipe.sh -- real models, MediaPipe's, from npm in pinned versions. To be sourced behind npm.sh.

mediapipe_packages=(face_detection@0.4.1646425229 hands@0.4.1675469240 selfie_segmentation@0.1.1675465747)
# Those that load; the others have operators that there are not.
mediapipe_models=(face_detection/face_detection_short_range face_detection/face_detection_full_range hands/hand_landmark_lite
	hands/hand_landmark_full)

# fetch_mediapipe DIR: have them in DIR, once; $models is where they are then. Where npm fetches nothing it ends as npm.sh says.
fetch_mediapipe()
{
	models=$1/npm-mediapipe/node_modules/@mediapipe
	fetched "$1/npm-mediapipe" "${mediapipe_packages[@]/#/@mediapipe/}"
}

# link_mediapipe DIR: make it, and put links to those that load into it.
link_mediapipe()
{
	local model

	mkdir -p "$1"
	for model in "${mediapipe_models[@]}"; do
		ln -sf "$models/$model.tflite" "$1/"
	done
}
