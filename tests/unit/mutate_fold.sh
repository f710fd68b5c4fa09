#!/usr/bin/env bash
# mutate_fold.sh TREE -- test_fold_schedules notices when the fold is broken. The unchanged one has to pass; then it is
# broken in each of the ways below, and each time some test has to fail. CC is the compiler. It takes minutes, so it is for
# long soaks.
. "$(dirname "$0")/../rules/rule.sh"

[[ ${NNB_MUTANTS-} ]] || { echo 'skipped: a part of a long ./run soak, or with NNB_MUTANTS=1'; exit 77; }
unset NNB_SOAK_SECONDS

tree=${1:?TREE}
fold=$tree/analyzer/fold
wants "${CC:=cc}"
scratch

compile() # compile SOURCE OBJECT
{
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -DSEEDS="${SEEDS:-120}" -I"$tree/analyzer" -I"$tree/runtime/include" \
		-I"$tree/runtime" -I"$tree/tests" -c -o "$2" "$1"
}

build()
{
	"$CC" -o "$tmp/test" "$tmp"/*.o -lcmocka
}

# mutant FILE WHAT SED: that file of the fold is changed so; some test has to fail.
mutant()
{
	local file=$1 what=$2 status=0

	sed -E "$3" "$fold/$file" >"$tmp/$file"
	cp "$tmp/${file%.c}.o" "$tmp/whole"
	if cmp -s "$fold/$file" "$tmp/$file"; then
		broken "cannot make it so: $what"
	elif ! compile "$tmp/$file" "$tmp/${file%.c}.o" || ! build; then
		broken "does not build: $what"
	else
		timeout 120 "$tmp/test" >"$tmp/said" 2>&1 || status=$?
		if ((status == 0)); then
			broken "nobody missed: $what"
		else
			printf 'caught  %s  by %s\n' "$what" "$(sed -n 's/.*\(seed [0-9]*, .*\)/\1/p' "$tmp/said" | head -1)"
			caught=$((caught + 1))
		fi
	fi
	mv "$tmp/whole" "$tmp/${file%.c}.o"
}

caught=0
for source in tests/unit/test_fold_schedules tests/analyzer/{collect,schedule_sim,schedule_truth} runtime/sched/policy; do
	compile "$tree/$source.c" "$tmp/$(basename "$source").o"
done
for source in "$fold"/*.c; do
	compile "$source" "$tmp/$(basename "$source" .c).o"
done
build
timeout 300 "$tmp/test" >"$tmp/said" 2>&1 || { cat "$tmp/said"; broken 'the unchanged fold fails'; judged; }

# within FUNCTION SED: where.
within() { printf '/^[a-z].*[ *]%s\\(/,/^}/{%s}' "$1" "$2"; }

# who was on a lane, and who was waited for
mutant lanes.c 'an idle lane is idle whatever was lost' "$(within nobody_is_certain 's/ \&\& !bsa_device_unsure\(.*\)/ \&\& true/')"
mutant lanes.c 'a holder is certain whatever was lost'  "$(within holder_is_certain 's/\(l->holder->counted.*\)/true/')"
mutant lanes.c 'who holds a lane now is nobody'         "$(within bsa_lane_is_held 's/l->holder \&\& /false \&\& /')"
mutant schedule.c 'slices of the preempted begin late'  "$(within tell_slice 's/x->slice_began/x->slice_began + 1/')"
mutant schedule.c 'the preempted have one lane'         's/if \(stopped \|\| x->uncertain \|\| x->stretches > 1\)/if (stopped || x->uncertain)/'
mutant waits.c 'the same priority is an inversion'      's/s->level < level \? BSA_INVERSION/s->level <= level ? BSA_INVERSION/'
mutant waits.c 'nobody hogs'                            's/s->hogging \? BSA_HOGGED/false ? BSA_HOGGED/'
mutant waits.c 'an inversion of any length counts'      's/inverted\.dur > s\.step_ns/inverted.dur > 0/'
mutant waits.c 'starvation begins later'                's/ready_since > w->d->starvation_ns/ready_since > 2 * w->d->starvation_ns/'
mutant waits.c 'the higher priority bypasses'           's/same \? x->level : 0; p </same ? 0 : 0; p </'
mutant waits.c 'any choice is honoured'                 's/chosen\.honoured = p < x->level/chosen.honoured = true/'
mutant waits.c 'interference counts others only'        "$(within pairs_add 's/!by \|\| !app/!by || !app || by == app/')"
# shares
mutant shares.c 'shares are equal, whatever one has use for' 's/t->rate >= 0 \|\| cap > share/true/'
mutant shares.c 'lag goes on after doing nothing'       "$(within open_up '/restart_lag\(/d')"
mutant shares.c 'a window begins without lag'           's/t->window_lag = t->lag;/t->window_lag = 0;/'
mutant shares.c 'what is received is not held against it' 's/t->lag \+= entitled - .*/t->lag += entitled;/'
# executions
mutant judge.c 'one that a loss overlaps is complete'   "$(within quality_of 's/!certain \&\& is_lost\(/!certain \&\& false \&\& is_lost(/')"
mutant judge.c 'whatever was lost, its run is known'    "$(within set_run '/is_lost\(/,+1d')"
mutant judge.c 'being preempted is running'             's/phase\[BSA_RUN\] = all - x->off_ns/phase[BSA_RUN] = all/'
mutant judge.c 'it is late by when it ran'              's/ends\[\] = \{ BSA_RETURNED, BSA_RESULT_WRITTEN, BSA_RUN_ENDED/ends[] = { BSA_RUN_ENDED, BSA_RESULT_WRITTEN, BSA_RETURNED/'
mutant judge.c 'a fenced one ends with its answer'      "$(within end_of 's/BSA_SIGNALLED/BSA_RETURNED/')"
mutant judge.c 'what it never came to is unknown'       's/phase\[t\.tiles\[i\]\.phase\] = 0;/phase[t.tiles[i].phase] = BSA_NEVER;/'
mutant judge.c 'what lacks its beginning is complete'   "$(within has_all 's/!saw\(x, first\) \|\| //')"
mutant events.c 'summaries hold, and events fill in'    "$(within fill 's/x->fact\.at\[b\] == BSA_NEVER \&\& //')"
mutant events.c 'only the last preemption counts'       's/x->off_ns \+= now/x->off_ns = now/'
mutant events.c 'it began on the lane that it ended on' 's/x->stops \? x->first_lane : lane/lane/'
mutant events.c 'summaries are never too late'          "$(within is_in_time 's/f->latest_summary = f->now - first/;/')"
# steps
mutant schedule.c 'who comes is before who goes'        's/\[BSA_STEP_END\] = BSA_RANK_LEAVE/[BSA_STEP_END] = BSA_RANK_ENTER/'

judged "$caught broken folds caught"
