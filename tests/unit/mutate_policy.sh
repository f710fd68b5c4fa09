#!/usr/bin/env bash
# mutate_policy.sh TREE -- test_policy notices when the policy is broken. The unchanged one has to pass; then
# it is broken in each of the ways below, and each time some test has to fail. CC is the compiler.
. "$(dirname "$0")/../rules/rule.sh"
[[ ${NNB_MUTANTS-} ]] || { echo 'skipped: a part of a long ./run soak, or with NNB_MUTANTS=1'; exit 77; }

tree=${1:?TREE}
policy=$tree/runtime/sched/policy.c
wants "${CC:=cc}"
scratch

compile() # compile SOURCE OBJECT
{
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -DSEEDS=4000 -DTRIES=100 \
		-I"$tree/runtime/include" -I"$tree/runtime" -I"$tree/tests" -c -o "$2" "$1"
}

build() # build POLICY
{
	compile "$1" "$tmp/policy.o" && "$CC" -o "$tmp/test_policy" "$tmp"/*.o -lcmocka -lm
}

# mutant WHAT SED: the policy is changed so; some test has to fail.
mutant()
{
	local status=0

	sed -E "$2" "$policy" >"$tmp/policy.c"
	if cmp -s "$policy" "$tmp/policy.c"; then
		broken "cannot make it so: $1"
	elif ! build "$tmp/policy.c"; then
		broken "does not build: $1"
	else
		timeout 60 "$tmp/test_policy" >"$tmp/said" 2>&1 || status=$?
		if ((status == 0)); then
			broken "nobody missed: $1"
		else
			printf 'caught  %s  by %s\n' "$1" "$(sed -n 's/^\[  FAILED  \] //p' "$tmp/said" | head -1)"
			caught=$((caught + 1))
		fi
	fi
}

caught=0
for source in test_policy policy_sim; do
	compile "$tree/tests/unit/$source.c" "$tmp/$source.o"
done
build "$policy"
"$tmp/test_policy" >"$tmp/said" 2>&1 || { cat "$tmp/said"; broken 'the unchanged policy fails'; judged; }

# within FUNCTION SED: where.
within() { printf '/^[a-z].*[ *]%s\\(/,/^}/{%s}' "$1" "$2"; }

mutant 'a new app is accounted for before it came' "$(within nnb__policy_ready '/account\(/d')"
mutant 'lag goes on after doing nothing'      "$(within enlist '/lag = 0/d')"
mutant 'claims go on after doing nothing'     "$(within enlist '/claim = 0/d')"
mutant 'claims go below nothing'              's/between\(0, a->claim/between(-1e18, a->claim/'
mutant 'claims never end'                     's/missed, NNB__CLAIM_MAX_NS/missed, 1e18/'
mutant 'what an app receives is not counted'  's/a->received \+=.*/;/'
mutant 'shares are equal, whatever one has use for' 's/a->waiting \+ a->running <= share/false/'
mutant 'what one does not use is lost'        's/left -= a->rate/left -= share/'
mutant 'who needs least goes first'           's/x > most \|\|/x < most ||/'
mutant 'claims are ignored'                   's/return a->claim \+ \(a->rate/return (a->rate/'
mutant 'what an app has on lanes is ignored'  's/return a->claim \+ \(a->rate.*/return a->claim;/'
mutant 'low priorities go first'              's/return a->priority > b->priority/return a->priority < b->priority/'
mutant 'late deadlines go first'              's/return a->deadline_ns < b->deadline_ns/return a->deadline_ns > b->deadline_ns/'
mutant 'who came last goes first'             's/return a->arrival < b->arrival/return a->arrival > b->arrival/'
mutant 'edf goes by priority'                 's/p->kind == NNB_POLICY_PRIORITY;/p->kind != NNB_POLICY_FIFO;/'
mutant 'priorities count between apps'        's/job->app == running->app \&\& //'
mutant 'an earlier deadline is no reason'     's/return job->deadline_ns < running->deadline_ns/return false/'
mutant 'restarts are unbounded'               's/job->restarts < NNB__RESTARTS_MAX/true/'
mutant 'restarts are one too many'            's/job->restarts < NNB__RESTARTS_MAX/job->restarts <= NNB__RESTARTS_MAX/'
mutant 'restarts are not counted'             '/job->restarts\+\+/d'
mutant 'what is kept is bounded too'          's/p->preempt == NNB_PREEMPT_SAVE \|\| job/job/'
mutant 'preemption though there is none'      's/ \|\| p->preempt == NNB_PREEMPT_NONE\)$/)/'
mutant 'a lane is promised twice'             's/ \&\& p->yield_at\[i\] \&\&/ \&\&/'
mutant 'the best lane is left'                's/before\(p, p->running\[worst\], p->running\[i\]\)/before(p, p->running[i], p->running[worst])/'
mutant 'only the first who waits is made room for' "$(within make_room_in_order 's/first->at = first->at->next/return/')"
mutant 'only the first of an app is made room for' "$(within make_room_within 's/yield_at\[lane\] = 0;/&return;/')"
mutant 'other apps are never made room for'   '/^	make_room_in_time\(/d'
mutant 'other apps are made room for at once' 's/missing = quantum -/missing = 0 -/'
mutant 'other apps are made room for too late' 's/missing \/ closing\) \+ 1/missing \/ closing * 2) + 1000/'
mutant 'only the neediest is looked at'       's/ == first \? second : first/ == first ? NULL : first/'
mutant 'how fast claims grow is that of the neediest' 's/fastest = speed\(a\);/fastest = speed(first);/'
mutant 'no plan after somebody gave up'       "$(within nnb__policy_cancel '/plan\(/d')"
mutant 'old shares after somebody gave up'    "$(within nnb__policy_cancel '/entitle\(/d')"
mutant 'no plan after somebody came'          "$(within nnb__policy_ready '/plan\(/d')"
mutant 'no plan after somebody left'          "$(within nnb__policy_leave '/plan\(/d')"
mutant 'old shares after somebody left'       "$(within nnb__policy_leave '/entitle\(/d')"
mutant 'who gives up is not accounted for'    "$(within nnb__policy_cancel '/account\(/d')"
mutant 'who gives up stays in the list'       "$(within nnb__policy_cancel '/delist\(/d')"
mutant 'a lane is lost'                       's/p->free \|= UINT64_C\(1\) << lane/p->free |= 0/'
mutant 'a lane is given twice'                's/p->free \&= ~\(UINT64_C\(1\) << lane\)/p->free \&= ~UINT64_C(0)/'
mutant 'a free lane stays free'               "$(within nnb__policy_leave 's/if \(p->waiting\)/if (p->waiting > 1)/')"
mutant 'who is asked is not asked again'      "$(within nnb__policy_yield '/plan\(/d')"
mutant 'the last before it must have ended'   's/\(p->lanes - 1\) \* most/0/'
mutant 'what is left of the kept is all of it' 's/least = q->begun.*/least = q->floor_ns;/'
mutant 'who goes after it is waited for'      's/ \&\& before\(p, q, job\)//'
mutant 'who may be made to leave is waited for' 's/p->preempt == NNB_PREEMPT_NONE \? first_free\(p, now\) : 0/first_free(p, now)/'

judged "$caught broken policies caught"
