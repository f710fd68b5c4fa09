#!/usr/bin/env bash
# metrics.sh BURSTSCOPE TRACE_FROM_TEXT METRIC_TABLE LIVE_METRICS -- `export --to openmetrics` has what the database
# has, within its bounds; Prometheus and Grafana accept the rules and the dashboard, and alert when an objective is
# missed (if promtool is installed); docs/metrics.md has every metric.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
burstscope=$1 trace_from_text=$2 metric_table=$3 live_metrics=$4
command -v python3 >/dev/null || exit 77
python=$(python3 -c 'import sys; print(sys.executable)') # the interpreter itself: a wrapper can take half a second to find it, each time
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0 apps=${NNB_APPS:-20000}

wrong()
{
	echo "metrics.sh: $*"
	failures=$((failures + 1))
}

# compared FILE DB: print the number of series, of compared series, and of exemplars
compared() { "$python" "$here/openmetrics.py" "$@" 2>&1; }

# ---- the whole of a database ----
# Like camera, but without the client: so the time from submission to answer is unknown.
sed -E 's/^([0-9][^ ]* +[0-9]+:[0-9]+( .*)?)$/\1 side=service/' "$here/../golden/camera.trace" >served.trace
for trace in "$here/../golden"/{camera,unfair,lossy,native}.trace served.trace; do
	name=$(basename "$trace" .trace)
	"$trace_from_text" -e full -o 1700000000000000000 "$name" <"$trace"
	"$burstscope" import -q -o "$name.db" "$name"
	"$burstscope" export --to openmetrics -o "$name.prom" "$name.db"
	said=$(compared "$name.prom" "$name.db") || wrong "$name: $said"
	read -r series n exemplars <<<"$said"
	[[ $said == [0-9]*' '*' '* ]] || continue
	((series > 100 && n > 30)) || wrong "$name: $said"
	[[ $name != unfair ]] || ((exemplars > 0)) || wrong "$name: no exemplars: $said"
	[[ $name != served ]] || ! grep -E '^nnburst_execution_duration_seconds_count.* [1-9]|^nnburst_phase_duration_seconds_count.*overhead.* [1-9]' "$name.prom" ||
		wrong "$name: times from submission to answer"
	"$burstscope" export --to openmetrics "$name.db" | cmp -s - "$name.prom" || wrong "$name: a pipe has something else"
done

# Counts of a growing database are the same except for causes, which are found at once there, and what is of the moment.
misses_added() { awk '/^nnburst_deadline_misses_total/ { n += $NF; next } { print } END { print "misses", n + 0 }' | sort; }
for name in camera unfair lossy native served; do
	"$burstscope" export --to prometheus "$name.db" | misses_added >wanted
	"$live_metrics" "$name" 2>said | grep -v burstscope_quiet_seconds | misses_added >grown
	cmp -s grown wanted || wrong "$name, while it grows: $(<said) $(diff grown wanted | head -5)"
	(($(wc -l <wanted) > 200)) || wrong "$name: little to compare"
done

# The comparison must find these faults.
for edit in 's/^\(nnburst_executions_total.* \)120$/\1121/' 's/^\(nnburst_phase_duration_seconds_sum.*\)\(.\)$/\18\2/' 's/^nnburst_slot_lookups.*//' \
	's/^\(nnburst_deadline_misses_total.*} \)[0-9]* # /\199 # /' 's/^# EOF//' 's/^# TYPE nnburst_slot_misses .*/# TYPE nnburst_slot_misses gauge/'; do
	sed "$edit" camera.prom | grep -v '^$' >edited
	! cmp -s edited camera.prom || wrong "it changes nothing: $edit"
	! compared edited camera.db >/dev/null || wrong "not noticed: $edit"
done

# ---- part of it ----
"$burstscope" export --to openmetrics --where "model = 'faces'" -o part camera.db
! grep -q 'tracker\|nnburst_lane\|burstscope_events' part || wrong "--where model = 'faces': $(grep 'tracker\|nnburst_lane\|burstscope_events' part | head -3)"
compared part >/dev/null || wrong "$(compared part)"
[[ $(sed -n 's/^nnburst_executions_total.* //p' part | awk '{ n += $1 } END { print n + 0 }') == $(sqlite3 camera.db "SELECT count(*) FROM execution WHERE path <> 'prepare'
	AND model_id IN (SELECT id FROM model WHERE name = 'faces')") ]] || wrong '--where: not all executions of it'

# ---- hostile names, and very many names ----
cp camera.db hostile.db
sqlite3 hostile.db "UPDATE app SET name = CASE id % 2 WHEN 1 THEN '\"},\\' || char(10, 27) || '[31m' || CAST(x'41fffe80c0af' AS TEXT) ELSE 'other' END;
	UPDATE stored_model SET name = char(0x202e) || '<script>' || char(9) || replace(hex(zeroblob(40000)), '0', 'n') || id"
"$burstscope" export --to openmetrics -o hostile.prom hostile.db
said=$(compared hostile.prom) || wrong "names of strangers: $said"
(($(wc -L <hostile.prom) < 700)) || wrong 'a label of any length'

# copies TABLE EDIT: copy rows until there is one for each app, with EDIT in the first one; i.n is a number
copies()
{
	echo "INSERT INTO $1 SELECT $(sqlite3 camera.db "SELECT group_concat(CASE name $2 ELSE 'x.' || name END) FROM pragma_table_info('$1')")
		FROM (SELECT * FROM $1 LIMIT 1) x, i;"
}
cp camera.db many.db
{
	echo "CREATE TEMP TABLE i AS WITH RECURSIVE c(n) AS (SELECT 1000000 UNION ALL SELECT n + 1 FROM c LIMIT $apps) SELECT n FROM c;"
	copies app "WHEN 'id' THEN 'i.n' WHEN 'key' THEN 'i.n' WHEN 'name' THEN '''app '' || i.n'"
	copies stored_share "WHEN 'app_id' THEN 'i.n'"
	copies stored_execution "WHEN 'id' THEN 'i.n' WHEN 'app_id' THEN 'i.n'"
} | sqlite3 many.db
"$burstscope" export --to openmetrics -o many.prom many.db || wrong "$apps apps"
read -r series _ < <(compared many.prom)
((series > 5000 && series <= 20000)) || wrong "$apps apps: $series series"
for pair in "nnburst_executions_total|SELECT count(*) FROM execution WHERE path <> 'prepare'" \
	"nnburst_execution_duration_seconds_count|SELECT count(*) FROM execution WHERE complete AND status = 'NONE'"; do
	[[ $(sed -n "s/^${pair%%|*}{.* //p" many.prom | awk '{ n += $1 } END { print n + 0 }') == $(sqlite3 many.db "${pair#*|}") ]] || wrong "$apps apps: ${pair%%|*} lost some"
done
(($(sed -n 's/^burstscope_other_samples_total{metric="nnburst_execution_duration_seconds"} //p' many.prom) > apps - 500)) || wrong "$apps apps: what went to \`other\` is not counted"
grep -q '^nnburst_executions_total{app="camera",model="tracker",.*120$' many.prom || wrong "$apps apps: the largest one has no series of its own"

# ---- objectives: buckets, rules, alerts ----
cat >objectives.slo <<'END'
p99 e2e of app=camera path=burst <= 61ms
p99 queue <= 3ms
miss ratio of app=camera <= 5 %
at most 2 misses in any 10 of app=camera
starvation none
fairness lag <= 7ms
coverage >= 99 %
p50 e2e of app="a\"b" <= 12ms
p99 e2e of priority=high <= 60ms
p99 run of app=camera <= 1ms
END
"$burstscope" export --to openmetrics --slo objectives.slo -o bounds.prom camera.db
for le in 0.061 0.003 0.012; do
	grep -q "le=\"$le\"" bounds.prom || wrong "no bucket ends at $le"
done
said=$(compared bounds.prom camera.db) || wrong "buckets of objectives: $said"
"$burstscope" export --to rules --slo objectives.slo -o objectives.yml
(($(grep -c 'left out' objectives.yml) == 3 && $(grep -c 'name: ' objectives.yml) == 7)) || wrong "rules: $(grep '  # line' objectives.yml)"
grep -q 'cannot be spent' objectives.yml || wrong 'p50: its budget is half of all'
"$burstscope" export --to rules --scale 600 --slo objectives.slo >out && grep -q 'rate500ms' out || wrong '--scale'
echo 'executions >= 5' >none.slo
"$burstscope" export --to rules --slo none.slo >out && grep -q '^groups: \[\]$' out || wrong 'no rule for Prometheus'
"$burstscope" export --to grafana -o dashboard.json
"$python" - "$(printf '%s\n' "$(sed -n 's/^METRIC([A-Z_]*, *[A-Z]*, *"\([a-z_]*\)".*/\1/p' "$root/viewer-cli/metrics/metrics.def")")" <<'END' || wrong 'the dashboard'
import json, sys
panels = json.load(open("dashboard.json"))["panels"]
assert len({p["id"] for p in panels}) == len(panels) and len({(p["gridPos"]["x"], p["gridPos"]["y"]) for p in panels}) == len(panels)
named = " ".join(p["targets"][0]["expr"] for p in panels)
missing = [n for n in sys.argv[1].split() if n not in named and n != "burstscope_build_info"]
assert not missing and len(panels) > 15, missing
END

if command -v promtool >/dev/null; then
	for name in camera unfair hostile; do
		"$burstscope" export --to prometheus "$name.db" | promtool check metrics >said 2>&1 || wrong "promtool check metrics: $(head -3 said)"
	done
	promtool check rules objectives.yml none.yml >said 2>&1 || promtool check rules objectives.yml >said 2>&1 || wrong "promtool check rules: $(<said)"
	cp "$here/alerts.test.yml" .
	promtool test rules alerts.test.yml >said 2>&1 || wrong "promtool test rules: $(head -30 said)"
	sed 's/slo_line: "3"/slo_line: "4"/' alerts.test.yml >edited.test.yml
	! promtool test rules edited.test.yml >said 2>&1 || wrong 'an alert of another objective was not noticed'
	# Each panel is PromQL, says a rules file with its expressions.
	"$python" - >panels.yml <<'END'
import json
print("groups:\n- name: panels\n  rules:")
for p in json.load(open("dashboard.json"))["panels"]:
    print("  - record: panel:%d\n    expr: %s" % (p["id"], json.dumps(p["targets"][0]["expr"].replace("$__rate_interval", "1m"))))
END
	promtool check rules panels.yml >said 2>&1 || wrong "the dashboard's queries: $(head -5 said)"
else
	echo 'metrics.sh: no promtool: what it checks is skipped'
fi

# ---- outputs that fail, and empty databases ----
status=0
"$burstscope" export --to openmetrics camera.db >/dev/full 2>said || status=$?
[[ $status == 5 && $(wc -l <said) == 1 ]] || wrong "a full disk: $status, $(<said)"
status=$( (set +o pipefail; { "$burstscope" export --to openmetrics many.db 2>said; echo "$?" >status; } | head -c 100 >/dev/null); cat status)
[[ $status == 141 && ! -s said ]] || wrong "a closed pipe: $status, $(<said)"
cp camera.db empty.db
sqlite3 empty.db 'DELETE FROM stored_execution; DELETE FROM app; DELETE FROM stored_model; DELETE FROM trace; DELETE FROM stored_share' 2>said || wrong "$(<said)"
"$burstscope" export --to openmetrics -o empty.prom empty.db && compared empty.prom >/dev/null || wrong 'an empty database'

diff <("$metric_table") <(sed -n '/^## Metrics$/,$p' "$root/docs/metrics.md" | grep '^|') >said || wrong "docs/metrics.md, below Metrics: $(<said)"
((failures == 0)) || exit 1
echo 'metrics.sh: metrics, rules and dashboard are as the database and the objectives say'
