#!/usr/bin/env bash
# check_ci.sh BURSTSCOPE SERVICE LOAD -- `burstscope check` as a step of continuous integration: an unchanged service
# passes, one that became worse fails, and where no verdict is possible the step does neither. Its XML is well-formed.
# `burstscope diff` finds the same. Other work of the machine may spoil a recording, so each is made up to three times.
set -euo pipefail
. "$(dirname "$0")/../recording.sh"
burstscope=$1 service=$2 load=$3

# record OPTION...: record noisy-neighbour of a service with these options, into $db.
recordings=0
record()
{
	local name=r$((++recordings))

	session "$name" DEBUG_FUNCTION
	start_service "$service" --lanes 1 "$@"
	quietly "$load" --quiet --socket "$tmp/socket" --duration 2500ms noisy-neighbour
	stop_service || wrong 'nnburstd does not end well'
	end_session "$name"
	db=$tmp/$name.db
	quietly "$burstscope" import -q -o "$db" "$tmp/$name"
	rm -r "${tmp:?}/$name"
}

# step STATUS ARGUMENT...: run burstscope check; it must end with STATUS. $tmp/out has its output.
step()
{
	local wanted=$1 status=0
	shift
	"$burstscope" check "$@" >"$tmp/out" 2>"$tmp/said" || status=$?
	((status == wanted)) && return
	echo "check $* ends with $status and not $wanted: $(cat "$tmp/said" "$tmp/out")"
	return 1
}

# step_or_again STATUS RULES OPTION...: the same on a recording that is made for it, up to three times.
step_or_again()
{
	local wanted=$1 rules=$2 tries said
	shift 2

	for ((tries = 0; tries < 3; tries++)); do
		record "$@"
		said=$(step "$wanted" --slo "$rules" "$db") && return
	done
	wrong "$said"
}

# xml FILE: print "TESTS FAILURES ERRORS" as a reader of XML counts them; the attributes must agree.
xml()
{
	if command -v python3 >/dev/null; then
		python3 - "$1" <<'END'
import sys
import xml.etree.ElementTree as tree
suites = tree.parse(sys.argv[1]).getroot()
found = [len(suites.findall(".//" + what)) for what in ("testcase", "testcase/failure", "testcase/error")]
for told in [suites] + suites.findall("testsuite"):
    assert [int(told.get(what)) for what in ("tests", "failures", "errors")] == found, "it counts wrong"
assert all(case.get("name") and case.get("classname") for case in suites.iter("testcase"))
print(*found)
END
	elif command -v xmllint >/dev/null; then
		xmllint --noout "$1" && xmllint --xpath \
			'concat(count(//testcase), " ", count(//failure), " ", count(//error))' "$1"
	else # every open tag is closed
		awk 'BEGIN { RS = "<"; getline }
			/^\?/ { next }
			/^\// { sub(/>.*/, ""); if (open[n--] != substr($0, 2)) exit bad = 1; next }
			{ name = $0; sub(/[ \/>].*/, "", name); seen[name]++; if ($0 !~ /\/>[^>]*$/) open[++n] = name }
			END { if (bad || n) exit 1; print seen["testcase"] + 0, seen["failure"] + 0, seen["error"] + 0 }' "$1"
	fi
}

# reports STATUS COUNTS ARGUMENT...: run a step with JUnit's XML.
reports()
{
	local status=$1 wanted=$2 found
	shift 2
	step "$status" --format junit "$@" || { wrong "$(cat "$tmp/out")"; return; }
	found=$(xml "$tmp/out" 2>&1) || true
	[[ $found == "$wanted" ]] || wrong "the report of $* has '$found', not '$wanted': $(cat "$tmp/out")"
}

# A neighbour has no deadlines, so rules about deadlines do not cover it.
cat >"$tmp/just.slo" <<'END'
coverage >= 90 %
executions of app=well-behaved >= 20
miss ratio of app=well-behaved <= 25 %   # next to none under fair, most under fifo
fairness
END

# ---- the step passes; then the service changes ----

start_sessiond
step_or_again 0 "$tmp/just.slo" --policy fair
good=$db
reports 0 '4 0 0' --slo "$tmp/just.slo" "$good"
step_or_again 1 "$tmp/just.slo" --policy fifo
bad=$db
grep -q '^FAIL .*miss ratio' "$tmp/out" || wrong "it is not the misses that fail: $(cat "$tmp/out")"
failures_told=$("$burstscope" check --slo "$tmp/just.slo" --format csv "$bad" | grep -c ',FAIL,') || true
unsure_told=$("$burstscope" check --slo "$tmp/just.slo" --format csv "$bad" | grep -c ',INCONCLUSIVE,') || true
reports 1 "4 $failures_told $unsure_told" --slo "$tmp/just.slo" "$bad"

# A failure stays a failure beside a rule without a verdict; without the failure, the status is that of no verdict.
echo 'p99.9999 e2e of app=well-behaved <= 1d' >"$tmp/wrong.slo"
echo 'p99.9999 e2e of app=well-behaved <= 1000s' >"$tmp/few.slo"
cat "$tmp/just.slo" "$tmp/few.slo" >"$tmp/both.slo"
step 3 --slo "$tmp/few.slo" "$good" || wrong "$(cat "$tmp/out")"
reports 3 '1 0 1' --slo "$tmp/few.slo" "$good"
step 1 --slo "$tmp/both.slo" "$bad" || wrong 'a failure comes first'
step 3 --slo "$tmp/both.slo" "$good" || wrong 'not all passed'

# A recording is not worse than itself by a quarter of an hour.
cat >"$tmp/base.slo" <<'END'
p50 e2e of app=noisy path=sync <= baseline + 1000s
p99 run of app=noisy <= baseline + 1000s
END
step 0 --slo "$tmp/base.slo" --baseline "$good" "$good" || wrong 'it is no worse than itself'

# ---- diff ----

# A recording of a few seconds on a busy machine can be too short for a test to show even a large change: then the
# verdict is cannot tell, not pass.
is=0
"$burstscope" diff --verdict "$good" "$good" >"$tmp/out" || is=$?
case $is in
0) says='^Changes: none; .*not distinguishable' ;;
3) says='^Changes: 0 worse, 0 better, .* cannot tell' ;;
*) wrong "a recording differs from itself: $(cat "$tmp/out")" ;;
esac
grep -q "$says" "$tmp/out" || wrong "it does not say so: $(head -n 1 "$tmp/out")"
"$burstscope" diff "$good" "$bad" >"$tmp/out"
grep -Eq '^policy +fair +fifo' "$tmp/out" || wrong "the policies are not told: $(cat "$tmp/out")"
# Mix and speed of the groups sum to the change of the mean. (test_stats has the phases.)
command -v python3 >/dev/null && python3 - <<END || wrong 'the parts do not sum to the whole'
import json, subprocess
answer = json.loads(subprocess.run(["$burstscope", "diff", "--format", "json", "$good", "$bad"],
    stdout=subprocess.PIPE, check=True).stdout)
parts = {part["name"]: part["rows"] for part in answer["parts"]}
assert parts["phases"]
assert abs(sum(row["share_a_percent"] for row in parts["mix"]) - 100) < 1e-6
whole = sum(row["share_b_percent"] * (row["mean_b_ns"] or 0) - row["share_a_percent"] * (row["mean_a_ns"] or 0)
    for row in parts["mix"]) / 100
assert abs(whole - sum(row["by_mix_ns"] + row["by_speed_ns"] for row in parts["mix"])) < 3
END

# ---- wrong steps ----

# refuses STATUS WORDS ARGUMENT...: the step must end with STATUS and one line with WORDS, and without output.
refuses()
{
	local status=$1 words=$2
	shift 2
	step "$status" "$@" || { wrong "$(cat "$tmp/said")"; return; }
	[[ ! -s $tmp/out && $(wc -l <"$tmp/said") == 1 && $(<"$tmp/said") == *"$words"* ]] ||
		wrong "check $*: not '$words', but: $(cat "$tmp/said" "$tmp/out")"
}

refuses 2 '--slo FILE is missing' "$good"
refuses 2 'base.slo: line 1 needs a baseline; add --baseline INPUT, or take the line out' --slo "$tmp/base.slo" "$good"
refuses 2 "no 'xml'; write table|json|csv|junit" --slo "$tmp/just.slo" --format xml "$good"
refuses 4 'No such file or directory' --slo "$tmp/none.slo" "$good"
refuses 4 'it is not a regular file' --slo "$tmp" "$good"
head -c 4096 "$good" >"$tmp/database.slo"
refuses 4 'database.slo: line 1: ' --slo "$tmp/database.slo" "$good"
refuses 4 'it is not a regular file' --slo /dev/zero "$good"
refuses 4 "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '1d'" --slo "$tmp/wrong.slo" "$good"
refuses 4 "$tmp/none.db" --slo "$tmp/just.slo" "$tmp/none.db"
refuses 4 "$tmp/none.db" --slo "$tmp/base.slo" --baseline "$tmp/none.db" "$good"
: >"$tmp/empty.slo"
refuses 4 'the file has no rule' --slo "$tmp/empty.slo" "$good"

((failures == 0)) || exit 1
echo 'check_ci.sh: what is as it was passes, what became worse fails'
