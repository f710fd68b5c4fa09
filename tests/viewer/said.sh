#!/usr/bin/env bash
# said.sh BURSTSCOPE TRACE_FROM_TEXT -- sentences of summary and misses that no golden trace has: several waits of one
# execution that starved, and missed deadlines of which only some have a known culprit.
set -euo pipefail
golden=$(cd "$(dirname "$0")/../golden" && pwd)
burstscope=$1 trace_from_text=$2
command -v sqlite3 >/dev/null || { echo 'said.sh: skipped: there is no sqlite3'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC
cd "$tmp"
failures=0

# holds TEXT COMMAND...: the command's output must have TEXT.
holds()
{
	local text=$1
	shift
	"$@" >out
	grep -qF -- "$text" out || {
		echo "said.sh: $*: not '$text', but: $(<out)"
		failures=$((failures + 1))
	}
}

# lacks TEXT COMMAND...: the command's output must not have TEXT.
lacks()
{
	local text=$1
	shift
	"$@" >out
	grep -qF -- "$text" out || return 0
	echo "said.sh: $*: '$text'"
	failures=$((failures + 1))
}

for name in camera unfair; do
	"$trace_from_text" -e full -s "$name" "$name" <"$golden/$name.trace"
	"$burstscope" import -q -o "$name.db" "$name"
done
holds "meek's usual waited for a lane up to 200.0 ms, too long in 1 wait; hog held" "$burstscope" summary --format json unfair.db
sqlite3 unfair.db 'INSERT INTO stored_starvation SELECT execution_id, app_id, model_id, began + 200000000, 150000000, bypassed, top_culprit_app_id, 150000000, open FROM stored_starvation'
holds "meek's usual waited for a lane up to 200.0 ms at a time, too long in 2 waits of 1 execution, 350.0 ms in all; hog held" "$burstscope" summary --format json unfair.db
holds 'for too long, up to 200.0 ms at a time;' "$burstscope" starvation --format json unfair.db

# "mostly" is more than half of the misses.
holds "4 of them crowded_out: it waited while another app held the lane (mostly 写真帳's faces)" "$burstscope" misses camera.db
cp camera.db half.db
sqlite3 half.db 'UPDATE stored_miss_stat SET misses = 8 WHERE cause = 4'
holds "8 of them crowded_out: it waited while another app held the lane (most often 写真帳's faces)" "$burstscope" misses half.db
holds 'waiting while 写真帳' "$burstscope" summary --format json camera.db
holds 'whose doing: 写真帳 7 (likely)' "$burstscope" summary --format json camera.db
sqlite3 camera.db 'UPDATE stored_miss_blame SET proved = 1 WHERE blamed = 32 AND cause = 5'
holds 'whose doing: 写真帳 7 (1 sure, 6 likely)' "$burstscope" summary --format json camera.db
holds 'a replay without waiting for 写真帳 meets 1 of them. Of the others no replay can tell; waiting for 写真帳 was most of their delay' "$burstscope" summary --format json camera.db
# A replay that misses a deadline without the app is evidence against blaming the app; then the blame goes.
sqlite3 camera.db 'UPDATE stored_miss_blame SET proved = 0; UPDATE stored_miss_blame SET blamed = 34, mostly = 32 WHERE blamed = 32 AND cause = 5'
lacks 'whose doing: 写真帳' "$burstscope" summary --format json camera.db
holds 'whichever of its causes is taken away, a replay misses it, too; the largest part of its delay: waiting for 写真帳 1' "$burstscope" summary --format json camera.db
holds 'a replay cannot tell whose doing that was; the largest part of their delay: waiting for 写真帳 6' "$burstscope" summary --format json camera.db
lacks "own thread (sure)" "$burstscope" summary --format json camera.db
holds 'no single doer 1 (longest delay: waiting for 写真帳 1), not known 6 (longest delay: waiting for 写真帳 6)' "$burstscope" summary --format json camera.db
sqlite3 camera.db 'UPDATE stored_miss_blame SET blamed_app_id = NULL, blamed_model_id = NULL, mostly = NULL, blamed = 32 WHERE blamed IN (32, 34)'
holds 'waiting while another app held the lane' "$burstscope" summary --format json camera.db
holds 'whose doing: an app that is not known 7 (likely)' "$burstscope" summary --format json camera.db
holds 'which of the other apps held the lane, no event tells' "$burstscope" summary --format json camera.db
cp camera.db held.db
# A run that holds the lane without a cpu is the machine's doing. With three apps, "several other apps" are the other
# two, unless a fourth may have been lost.
sqlite3 held.db 'UPDATE stored_miss_blame SET blamed = 39 WHERE blamed = 32 AND cause = 4; UPDATE stored_miss_blame SET blamed = 40 WHERE blamed = 32'
holds 'whose doing: the machine 9 (likely)' "$burstscope" summary --format json held.db
holds '4 waited for a run that held the lane, but had no cpu' "$burstscope" summary --format json held.db
holds 'several other apps together 3 (likely)' "$burstscope" summary --format json held.db
sqlite3 held.db "INSERT INTO app SELECT max(id) + 1, trace_id, max(key) + 1, uid, 'third', 'third' FROM app"
holds 'third and 写真帳 together 3 (likely)' "$burstscope" summary --format json held.db
holds 'third and 写真帳 together' "$burstscope" misses --part doers held.db
# Submitted too late: because of the machine, or of its own thread, where the client reported how long the thread
# waited for a cpu.
sqlite3 camera.db 'UPDATE stored_miss_blame SET blamed = 38, cause = 22, proved = 1 WHERE blamed = 32'
# Only that time is known of the thread: another process may have stopped it, or kept it waiting.
holds "camera's own thread or what it waited for 7 (sure)" "$burstscope" summary --format json camera.db
holds 'even without the wait of its thread for a cpu, it was submitted too late' "$burstscope" summary --format json camera.db
sqlite3 camera.db 'UPDATE stored_miss_blame SET blamed = 37 WHERE blamed = 38'
holds '7 were submitted too late because their threads waited for a cpu' "$burstscope" summary --format json camera.db
holds 'the machine 12 (7 sure, 5 likely)' "$burstscope" summary --format json camera.db
sqlite3 camera.db 'DELETE FROM stored_miss_blame WHERE blamed = 33'
holds 'submitted too late because its thread waited for a cpu' "$burstscope" summary --format json camera.db
id=$(sqlite3 camera.db 'UPDATE stored_miss_cause SET cause = 22 WHERE is_primary; UPDATE stored_missed SET submit_delay_ns = 5000000, submit_gap_ns = 8000000, submit_turns = 2;
	SELECT min(execution_id) FROM stored_missed')
holds 'its thread waited for a cpu for 5.000 ms of the 8.000 ms since its call before' "$burstscope" explain "$id" camera.db
sqlite3 camera.db "INSERT INTO stored_late_start SELECT $id, NULL, NULL, NULL, 5000000, 4000000, 1, NULL"
holds 'submitted 4.000 ms earlier, without that: met' "$burstscope" explain "$id" camera.db
sqlite3 camera.db 'UPDATE stored_late_start SET lead_ns = NULL, met = 0'
holds 'without that it would have been submitted too late, too' "$burstscope" explain "$id" camera.db

# Of four apps whose every execution failed, three are findings, as of any other kind; the only execution of one is no "all".
{
	echo 'usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us'
	echo '0 service_state pid=100 policy=fifo preempt_mode=none lanes=1 contract=2 deadlines=advise'
	for i in 1 2 3 4; do
		echo "0 client_connect conn=$i pid=1$i uid=100$i app=$i name=broken-$i"
		echo "0 model_prepare model=$i conn=$i name=faces priority=medium ops=10 estimate_ns=100us step_ns=10us"
		echo "0 stream_open stream=$i conn=$i path=burst model=$i"
	done
	for i in 1 2 3 4; do
		for ((j = 1; j < i || j == 1; j++)); do
			echo "$((10 * i + j))ms $i:$j status=2"
		done
	done
} | "$trace_from_text" -e full -s failing failing
"$burstscope" import -q -o failing.db failing
holds 'all 3 executions of broken-4 failed (GENERAL_FAILURE 3)' "$burstscope" summary --format json failing.db
holds 'the only execution of broken-1 failed (GENERAL_FAILURE 1)' "$burstscope" summary --format json failing.db
lacks 'broken-2 failed' "$burstscope" summary --format json failing.db
((failures == 0))
