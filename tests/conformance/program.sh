#!/usr/bin/env bash
# program.sh PROGRAM EXAMPLES NNBURSTD BARE -- the output and status of nnburst-conformance for good files and bad
# ones. BARE: a driver without memory domains.
set -euo pipefail

program=$1 examples=$2 nnburstd=$3 bare=$4 failures=0
. "$(dirname "$0")/../daemon.sh"
cd "$tmp"

# ends STATUS ARGUMENT...: run the program; it must end with STATUS. $said has its output.
ends()
{
	local wanted=$1 status=0
	shift
	said=$("$program" "$@" 2>&1) || status=$?
	((status == wanted)) || wrong "'$*' ends with $status, not $wanted: $said"
}

says() # LINE
{
	grep -qxF -- "$1" <<<"$said" || wrong "not said: $1 (but: $said)"
}

wrong()
{
	echo "program.sh: $*"
	failures=$((failures + 1))
}

mkdir models
cp "$examples/add.json" models/add.json
ends 0 models
says 'passed  add'
says '1 passed, 0 failed, 0 skipped'
ends 0 --quiet models
[[ $said == '1 passed, 0 failed, 0 skipped' ]] || wrong "--quiet says: $said"

sed 's/1\.5, 0\.0, 4\.0/1.5, 0.25, 4.5/' "$examples/add.json" >models/differs.json
sed 's/"ADD"/"BATCH_MATMUL"/' "$examples/add.json" >models/mean.json
sed 's/\[0, 1, 2\]/[0, 1, 9]/' "$examples/add.json" >models/index.json
sed 's/\[1\]/[7]/' "$examples/add.json" >models/parameter.json
echo '{' >models/syntax.json
ends 1 models
says 'passed  add'
says 'FAILED  differs: example 0: output 0[1] is 0, not 0.25; 2 of 6 elements differ'
says 'skipped mean: operations[0].type: no operation BATCH_MATMUL here'
says 'FAILED  index: INVALID_ARGUMENT: operation 0 (ADD): input 2: there is no operand 9'
says 'FAILED  parameter: INVALID_ARGUMENT: operation 0 (ADD): 7 is no fused activation'
[[ $said == *'FAILED  syntax: line 2, column 0'* ]] || wrong "of bad syntax it says: $said"
says '1 passed, 4 failed, 1 skipped'
ends 1 --driver null models

# An output whose extents are found by the execution has exactly as many elements as in the example.
python3 - "$examples/add.json" <<'EOF'
import json, sys
model = json.load(open(sys.argv[1]))
model["hal"] = "V1_2"
model["operands"][model["outputs"][0]]["dims"] = [0, 0]
sum_of_both = model["examples"][0]["outputs"][0]
for name, outputs in ("exact", sum_of_both), ("long", sum_of_both + [0.0] * 2), ("none", []):
    model["examples"][0]["outputs"] = [outputs]
    json.dump(model, open(f"{name}.json", "w"))

# No box is left: the first two operations find their number, and the second one has no box to read.
def tensor(kind, dims, lifetime, value=None): return {"type": kind, "dims": dims, "lifetime": lifetime} | ({"value": value} if value else {})
def scalar(kind, value): return tensor(kind, [], "CONSTANT_COPY", [value])
boxes = {"name": "boxes", "hal": "V1_2", "operands": [
    tensor("TENSOR_FLOAT32", [2, 2], "MODEL_INPUT"), tensor("TENSOR_FLOAT32", [2, 8], "MODEL_INPUT"), tensor("TENSOR_INT32", [2], "MODEL_INPUT"),
    scalar("FLOAT32", 0.5), scalar("INT32", -1), scalar("INT32", 0), scalar("FLOAT32", 0.4), scalar("FLOAT32", 1.0), scalar("FLOAT32", 0.3),
    tensor("TENSOR_FLOAT32", [0], "TEMPORARY_VARIABLE"), tensor("TENSOR_FLOAT32", [0, 4], "TEMPORARY_VARIABLE"),
    tensor("TENSOR_INT32", [0], "TEMPORARY_VARIABLE"), tensor("TENSOR_INT32", [0], "TEMPORARY_VARIABLE"),
    tensor("TENSOR_INT32", [2], "CONSTANT_COPY", [-1, 1]), tensor("TENSOR_FLOAT32", [0, 1], "TEMPORARY_VARIABLE"),
    tensor("TENSOR_FLOAT32", [0], "MODEL_OUTPUT"), tensor("TENSOR_FLOAT32", [0, 4], "MODEL_OUTPUT"),
    tensor("TENSOR_INT32", [0], "MODEL_OUTPUT"), tensor("TENSOR_INT32", [0], "MODEL_OUTPUT")],
    "operations": [{"type": "BOX_WITH_NMS_LIMIT", "inputs": [0, 1, 2, 3, 4, 5, 6, 7, 8], "outputs": [9, 10, 11, 12]},
        {"type": "RESHAPE", "inputs": [9, 13], "outputs": [14]},
        {"type": "BOX_WITH_NMS_LIMIT", "inputs": [14, 10, 12, 3, 4, 5, 6, 7, 8], "outputs": [15, 16, 17, 18]}],
    "inputs": [0, 1, 2], "outputs": [15, 16, 17, 18],
    "examples": [{"inputs": [[0.1, 0.2, 0.3, 0.1], [0, 0, 1, 1] * 4, [0, 0]], "outputs": [[], [], [], []]}]}
json.dump(boxes, open("boxes.json", "w"))
EOF
ends 0 exact.json
ends 1 long.json
says 'FAILED  long: example 0: output 0 has 6 elements, not 8'
ends 1 none.json
says 'FAILED  none: example 0: output 0 has 6 elements, not 0'
ends 0 boxes.json

# One file; a .tflite file counts as one, too.
ends 0 models/add.json
says 'passed  add'
mkdir flat
printf '\20\0\0\0TFL3' >flat/short.tflite
echo 'none at all' >flat/other.tflite
ends 1 flat
says 'FAILED  short: byte 0: an offset leads beyond the file'
says "FAILED  other: it is not a .tflite file: bytes 4 to 7 are not 'TFL3'"
says '0 passed, 2 failed, 0 skipped'

mkdir none cache good
cp "$examples/add.json" good
ends 4 none
says 'nnburst-conformance: none: no model file (*.json, *.tflite)'
ends 4 missing
if ((EUID != 0)); then # root may read everything
	cp "$examples/add.json" locked.json
	chmod 000 locked.json
	ends 4 locked.json
	says 'nnburst-conformance: locked.json: Permission denied'
fi
ends 2
ends 2 --nonsense models
ends 2 good good
ends 5 --driver nosuch good
ends 5 --cache missing good
ends 0 --cache cache good
ends 0 --cache cache good
[[ -e cache/key ]] || wrong 'a cache without a key'

ends 2 --path bust good
says "nnburst-conformance: --path: no 'bust'; did you mean 'burst'? See nnburst-conformance --help"
ends 0 --preempt both --cache cache good
ends 1 --preempt save models
says 'FAILED  differs: example 0: output 0[1] is 0, not 0.25; 2 of 6 elements differ'
ends 2 --preempt none good
says "nnburst-conformance: --preempt: no 'none'; write save|restart|both; see nnburst-conformance --help"
ends 0 --memory device good
says '1 passed, 0 failed, 0 skipped; 2 of 2 arguments in device memory'
ends 0 --memory shared good
says '1 passed, 0 failed, 0 skipped'
ends 0 --memory both --preempt both good
says '1 passed, 0 failed, 0 skipped; 2 of 2 arguments in device memory'
ends 1 --memory device models
says 'FAILED  differs: example 0: output 0[1] is 0, not 0.25; 2 of 6 elements differ'
ends 0 --memory both --driver "$bare" good
says '1 passed, 0 failed, 0 skipped; 0 of 2 arguments in device memory'
ends 2 --memory here good
says "nnburst-conformance: --memory: no 'here'; write shared|device|both; see nnburst-conformance --help"
ends 2 --path both --preempt save good
says 'nnburst-conformance: --path executes by a service: it goes with none of --driver, --preempt and --cache; see nnburst-conformance --help'
ends 2 --socket here good
says 'nnburst-conformance: --socket names a service: give --path, by which it executes, or --validate; see nnburst-conformance --help'
ends 2 --path both --driver null good
ends 5 --path both --socket nowhere good
says 'nnburst-conformance: nowhere: no service there: is nnburstd running?'
start_daemon "$nnburstd"
for path in burst sync fenced both all; do
	ends 1 --path $path --socket "$socket" models
	says 'FAILED  differs: example 0: output 0[1] is 0, not 0.25; 2 of 6 elements differ'
	says 'FAILED  index: INVALID_ARGUMENT: operation 0 (ADD): input 2: there is no operand 9'
	ends 0 --path $path --socket "$socket" "$examples"
	says '5 passed, 0 failed, 0 skipped'
done
ends 0 --path all --memory both --socket "$socket" "$examples"
says '5 passed, 0 failed, 0 skipped; 12 of 12 arguments in device memory'
ends 1 --path all --memory device --socket "$socket" models
stop_daemon
start_daemon "$nnburstd" --limit buffers=1
ends 0 --path all --memory both --socket "$socket" good
says '1 passed, 0 failed, 0 skipped; 1 of 2 arguments in device memory'
stop_daemon
start_daemon "$nnburstd" --driver null
ends 1 --path all --socket "$socket" models
stop_daemon

ends 0 --help
ends 0 --version
if [[ -w /dev/full ]] && "$program" good >/dev/full 2>&1; then
	wrong 'it does not notice that its output is lost'
fi
((failures == 0))
