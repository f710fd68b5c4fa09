// columns.js -- what the columns of the tables mean whose names do not say it: a reader who never saw them has a line of text below each table.

/** @type {Record<string, Record<string, string>>} by command and column */
const ofCommands = {
	misses: { n_misses: 'missed deadlines of which it is the primary cause, the one with the largest part of the lateness', n_persistent: 'the answer was MISSED_DEADLINE_PERSISTENT, so that another try is of no use', n_saved: 'deadlines that a replay without it meets, whatever the primary cause', saved: 'a replay without its primary cause meets the deadline (1) or misses it all the same (0)',
		n_of_doer: 'all misses of this doer', n_sure: 'a replay without it meets the deadline, or too little time was left anyway', n_likely: 'it took most of the delay, and a replay cannot tell',
		n_met: 'deadlines that a replay without it meets', n_unsure: 'of those with this primary cause, a replay cannot tell; "-" where no replay is needed: too little time was left at the submission', lost_ns: 'lateness that it caused, added up', worst_ns: 'the most in one execution', n_late: 'answered after the deadline or not at all', n_aborted: 'given up at the deadline',
		n_predicted: 'refused or given up before the deadline', n_unknown: 'not known whether there was a deadline', n_unseen: 'not known whether the deadline was met', most_by: 'the most frequent primary cause', n_victims: 'apps whose deadlines were missed',
		late_ns: 'what took longer than usual', budget_ns: 'where the time up to the deadline went', cause_ns: 'lateness by the primary cause' },
	fairness: { fair_mean_ns: 'the mean under fair sharing', fair_p95_ns: 'the 95th percentile under fair sharing', work_ns: 'time in which it had work', fair_work_ns: 'the same under fair sharing', got_percent: 'what it got of what fair sharing would have given it', received_ns: 'lane time that it had',
		entitled_ns: 'lane time that was its share', max_lag_ns: 'how far it was behind its share at the most', lag_ns: 'how far it was behind its share', slowdown_p50: 'the time from end to end divided by the run, the median', waited_for: 'the app that held the lane meanwhile',
		n_shared: 'windows in which two apps or more had work', min_ratio: 'Jain\'s index of the least even window: 1 is even' },
	starvation: { n_episodes: 'waits that were too long', starved_ns: 'these waits added up', n_bypassed: 'later arrivals that were on a lane first', gap_ns: 'how long it waited', culprit: 'the app that held the lane longest meanwhile', culprit_percent: 'its part of that time' },
	priority: { holder: 'the less urgent model on the lane', victim: 'the more urgent model that waited', n_above: 'inversions above the limit', worst_ns: 'the inversion furthest above its limit', bound_ns: 'its limit', held_ns: 'all inversions added up', n_victims: 'executions that waited',
		n_choices: 'times at which a lane became free and work of several priorities of the app was ready', n_honoured: 'the most urgent went first' },
	preemptions: { for_app: 'the app that took the lane', delay_p50_ns: 'from the request to stop until the lane was released, the median', off_lane_ns: 'how long it was off its lane', redo_ns: 'work that was done again', step_ns: 'the longest time between two points where it can be stopped', n_not_resumed: 'did not go on', n_most_of_one: 'the most of one execution' },
	overhead: { share_percent: 'the part of the time from end to end that is not the model\'s own work', of_it_percent: 'the part of the cause that this app, model and path had', difference_ns: 'cold less warm', gain_ns: 'what a burst saves against a call', low_ns: 'the lower end of the interval', high_ns: 'its upper end', each_execution_ns: 'the sum by executions' },
	slots: { n_misses: 'lookups of a slot that the service did not know', n_cold: 'executions with such a lookup', hit_percent: 'lookups of slots that it knew', n_used_once: 'bursts with one execution' },
	memory: { took_ns: 'time to make them, added up', n_never_unmapped: 'still mapped at the end', n_refused: 'the driver did not keep them', n_rejected: 'uses that are forbidden', n_never_freed: 'still there at the end' },
};

/** @type {Record<string, Record<string, string>>} where a part of an answer means something else by a column */
const ofParts = { doers: { n_misses: 'those of them with this primary cause' }, ledgers: { n_misses: 'missed deadlines in which it has a part' }, models: { n_persistent: 'those whose answer was MISSED_DEADLINE_PERSISTENT, so that another try is of no use', worst_ns: 'the greatest lateness' }, without: { n_misses: 'missed deadlines in which it has a part, primary or not, replayed without it', n_unsure: 'a replay cannot tell' } };

/** @param {string} command @param {string} part @param {string} column @returns {string | undefined} */
function meaningOf(command, part, column) {
	const own = ofCommands[command]?.[column];

	return own && (ofParts[part]?.[column] ?? own);
}

/** The columns of a part of the answer of @command, each with what it means. @param {string} command @param {string} part @param {any[]} columns @returns {any[]} */
export function explained(command, part, columns) {
	return columns.map((column) => ({ ...column, means: meaningOf(command, part, column.name) }));
}
