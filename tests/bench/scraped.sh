#!/usr/bin/env bash
# scraped.sh ROUNDS SECONDS BURSTSCOPE SERVICE LOAD STATIC_PAGE -- the figures of bench_scraped, three lines a round: KIND EXECUTIONS/S P50 P99 SCRAPES
# FAILED HOSTILE.
#
# A service whose device takes no time is asked by streams with a period, beside an exporter that is let alone; then while programs scrape and attack
# a server of a static page, which is a page of that exporter; then while they scrape and attack the exporter.
set -euo pipefail
. "$(dirname "$0")/../exporting.sh"
rounds=$1 seconds=$2 burstscope=$3 service=$4 load=$5 static_page=$6 scrapers=$(dirname "$0")/scrapers.py
command -v python3 >/dev/null || exit 77
cd "$tmp"

# measure KIND [PORT]: what the app has of the service, while PORT is scraped and attacked.
measure()
{
	local counted='0 0 0' pid=
	if [[ ${2-} ]]; then
		"$scrapers" 127.0.0.1 "$2" "$seconds" >counted &
		pid=$!
	fi
	"$load" --socket "$tmp/socket" --quiet --format json "$tmp/steady.json" >load.json
	[[ ! $pid ]] || { wait "$pid"; counted=$(<counted); }
	sed -nE 's/^ *"(per_s|p50_ns|p99_ns)": ([0-9.]+).*/\2/p' load.json | head -n 3 | paste -sd ' ' | sed "s/^/$1 /; s/\$/ $counted/"
}

scenario steady "{\"name\": \"steady\", \"duration\": \"${seconds}s\", \"apps\": [{\"name\": \"app\", \"streams\": [
	{\"name\": \"s\", \"model\": \"keyword\", \"period\": \"500us\"}]}]}"
start_sessiond
start_service "$service" --driver null
start_exporter 2>/dev/null
curl -s "$url/metrics" >page
"$static_page" page >port &
all_exporters=$!
awaits '[[ -s port ]]' 'the static page is served'
for ((i = 0; i < rounds; i++)); do
	measure alone
	measure static "$(<port)"
	measure scraped "${url##*:}"
done
kill "$all_exporters" "$exporter"
exporter_ended 0
((failures == 0))
