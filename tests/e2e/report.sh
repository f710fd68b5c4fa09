#!/usr/bin/env bash
# report.sh SERVICE LOAD BURSTSCOPE -- the page of a real recording, of apps whose states stay on the device: its
# tables are those of the commands, with the memory that the driver keeps, in a real Chromium (viewer/page.mjs).
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
service=$1 load=$2 burstscope=$3 page=$(realpath "$(dirname "$0")/../viewer/page.mjs")
for tool in "${CHROMIUM:-chromium}" node; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

start_sessiond
session states DEBUG_FUNCTION
start_service "$service" --lanes 1 --policy fifo
quietly "$load" --quiet --socket "$tmp/socket" --duration 300ms stateful-audio
stop_service || wrong 'nnburstd does not end well'
end_session states
cd "$tmp"
"$burstscope" import -q -o states.db states
"$burstscope" report -o states.html states.db || wrong 'there is no page'
node "$page" dump states.db "$burstscope" >states.wanted
"$burstscope" summary states.db | sed -n 's/^coverage: //p' >states.coverage
node "$page" look "$burstscope" states || wrong 'the page is not what the commands answer'
# The page has no section for what the recording lacks.
"$burstscope" memory --format json states.db >memory
grep -q '"device"' memory || wrong 'no pool of device memory was recorded'
node -e 'process.exit(JSON.parse(require("fs").readFileSync("memory")).parts.find((p) => p.name === "buffers").rows.length ? 0 : 1)' || wrong 'no buffer of the driver was recorded'

((failures == 0))
