#!/usr/bin/env bash
# speedscope.sh BURSTSCOPE TRACE_FROM_TEXT BUILD_DIR [PICTURE] -- speedscope (from npm, in a real Chromium) shows all
# that `export --to chrome` writes: as many slices of lanes and as many executions as the database has, of the same
# lengths. PICTURE gets a screenshot.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) golden=$(cd "$(dirname "$0")/../golden" && pwd)
. "$here/../npm.sh"
burstscope=$1 trace_from_text=$2 build=$3 picture=${4:-}
for tool in "${CHROMIUM:-chromium}" node sqlite3; do
	command -v "$tool" >/dev/null || {
		echo "skipped: there is no $tool"
		exit 77
	}
done
fetched "$build/npm-speedscope" speedscope@1.25.0
index=$build/npm-speedscope/node_modules/speedscope/dist/release/index.html
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"

# same WHAT IT WANTED
same()
{
	[[ $2 == "$3" ]] || {
		echo "speedscope.sh: $1: $2, not $3"
		failures=$((failures + 1))
	}
}

# shown JSON: print a line for each thread, as speedscope.mjs does. The page gets the file as from the program
# speedscope.
shown()
{
	(printf 'speedscope.loadFileFromBase64("%s", "' "$1" && base64 -w0 "$1" && printf '")') >"$1.js"
	node "$here/speedscope.mjs" "$index" "$tmp/$1.js" ${picture:+"$picture"}
}

"$trace_from_text" -e full -s camera camera <"$golden/camera.trace"
"$burstscope" import -q -o camera.db camera
"$burstscope" export --to chrome -o all.json camera.db
shown all.json >all

same 'slices of lanes' "$(awk '/lane/ { n += $1 } END { print n }' all)" "$(sqlite3 camera.db 'SELECT count(*) FROM lane_slice')"
same 'ns on lanes' "$(awk '/lane/ { n += $3 } END { print n }' all)" "$(sqlite3 camera.db 'SELECT sum(ended - began) FROM lane_slice')"
same 'executions' "$(awk '!/lane/ { n += $2 } END { print n }' all)" "$(sqlite3 camera.db 'SELECT count(*) FROM execution')"
same 'slices in all' "$(awk '{ n += $1 } END { print n }' all)" "$(grep -o '"ph":"X"' all.json | wc -l)"

# The comparison must notice a missing slice.
python3 - <<-'EOF'
	import json
	with open("all.json", encoding="utf-8") as f:
	    trace = json.load(f)
	trace["traceEvents"].remove(next(e for e in trace["traceEvents"] if e.get("cat") == "lane"))
	with open("less.json", "w", encoding="utf-8") as f:
	    json.dump(trace, f)
EOF
picture=
shown less.json >less
same 'slices of lanes without one' "$(awk '/lane/ { n += $1 } END { print n }' less)" $(($(awk '/lane/ { n += $1 } END { print n }' all) - 1))

echo "$(wc -l <all) threads, $failures wrong"
((failures == 0))
