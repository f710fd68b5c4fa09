// findings.js -- what is read first: whether something is wrong, who suffers, whose doing it is, what may help, and how far to trust that.
import { count, sentence, shown } from './format.js';
import { fill, make } from './tables.js';

const audited = ['misses', 'fairness', 'priority', 'starvation'];

/** @param {any} answer @param {string} name */
function partOf(answer, name) {
	return answer.parts?.find((/** @type {any} */ p) => p.name === name)?.rows ?? [];
}

/** Is it a finding about where time goes, where nothing need be wrong? @param {any} row */
function isCost(row) {
	return row.finding !== 'burst_per_call' && / overhead( |$)/.test(row.see ?? '');
}

/** @param {any} summary @param {any} about */
function trustOf(summary, about) {
	const c = summary.coverage ?? {}, [trust] = partOf(summary, 'trust'), lost = c.lost_events || c.lost_packets || c.losses || c.cut;
	const said = lost ? `not all was recorded: ${count(c.lost_events ?? 0)} events and ${count(c.lost_packets ?? 0)} packets lost, ${count(c.losses ?? 0)} intervals` : 'no event was lost';

	return make('p', { class: lost ? 'trust lost' : 'trust' }, make('strong', {}, 'Trust: '), said,
		`. ${count(c.events ?? 0)} events${trust ? ` of ${count(trust.n_executions)} executions` : ''}.`,
		about.part ? ' The timeline and charts show the part that was asked for (--where, --from, --to); these findings are about the whole recording.' : '');
}

/** A word and a colour for the result of an audit; for misses, from what it says. @param {any} row @returns {[string, string]} */
function resultOf(row) {
	if (row.audit === 'misses')
		return /^none of|^no execution/.test(row.what) ? [/^none/.test(row.what) ? 'none missed' : 'there were none', 'pass'] : /^at least 0 |cannot|unknown/.test(row.what) ? ['cannot tell', 'unsure'] : ['missed', 'fail'];
	return row.result === 'pass' ? ['pass', 'pass'] : row.result === 'fail' || row.result === 'FAIL' ? ['FAIL', 'fail'] : [row.result ?? 'cannot tell', 'unsure'];
}

/** Deadlines and the three verdicts, in a line. @param {any} summary */
function auditsOf(summary) {
	const rows = audited.flatMap((name) => partOf(summary, 'audits').filter((/** @type {any} */ row) => row.audit === name));

	return make('ul', { class: 'verdicts audits', 'aria-label': 'audits' }, ...rows.map((row) => {
		const [word, colour] = resultOf(row), name = row.audit === 'misses' ? 'Deadlines' : row.audit[0].toUpperCase() + row.audit.slice(1);

		return make('li', { class: `verdict ${colour}`, title: sentence(row.what) }, make('strong', {}, `${name}: ${word}`), make('br'), make('span', { class: 'note' }, sentence(row.what)));
	}));
}

/** @param {any} row of a finding */
function findingOf(row) {
	const facts = [[isCost(row) ? 'Where' : 'Who', row.who], ['Whose doing', row.culprit === row.who ? null : row.culprit], ['What may help', row.advice]].filter(([, value]) => value);
	const line = make('p', { class: 'facts' }, ...facts.map(([name, value]) => make('span', {}, make('strong', {}, `${name}: `), sentence(String(value)))));

	if (row.see)
		line.append(make('span', { class: 'note' }, 'More: ', make('code', {}, shown(row.see))));
	return make('li', { class: isCost(row) ? 'cost' : 'wrong' }, make('p', { class: 'what' }, sentence(row.what)), line);
}

/** In a line: how many things are wrong; or that nothing was seen to be, and whether it would have been seen. @param {any} summary */
function headlineOfAll(summary) {
	const rows = summary.rows ?? [], wrong = rows.filter((/** @type {any} */ row) => !isCost(row)).length, cost = rows.length ? ' What costs most time:' : '';
	const judged = partOf(summary, 'audits').filter((/** @type {any} */ row) => audited.includes(row.audit));

	if (wrong)
		return wrong === 1 ? 'One thing is wrong' : `${count(wrong)} things are wrong, the most important first`;
	if (!judged.every((/** @type {any} */ row) => resultOf(row)[1] === 'pass' && !/at least|unknown|cannot/.test(row.what)))
		return `Nothing wrong was seen, but not every verdict could be reached.${cost}`;
	return `${judged.some((/** @type {any} */ row) => /^none of/.test(row.what)) ? 'No deadline was missed, and no verdict failed.' : 'No verdict failed; there were no deadlines.'}${cost}`;
}

/** @param {HTMLElement} place @param {any} summary @param {any} about */
export function fillFindings(place, summary, about) {
	place.append(trustOf(summary, about));
	if (summary.error) {
		place.append(make('p', { class: 'bad' }, summary.error));
		return;
	}
	const rows = summary.rows ?? [];

	place.append(make('h3', { class: 'headline' }, headlineOfAll(summary)));
	if (rows.length)
		place.append(make('ol', { class: 'found' }, ...rows.map(findingOf)));
	place.append(auditsOf(summary));
}

/** What stands behind the first screen: each audit in a line, and the rules of the verdicts. @param {HTMLElement} place @param {any} summary */
export function fillAudits(place, summary) {
	fill(place, { ...summary, notes: [] }, 'audits', new Set(['summary', 'trust', 'executions']));
	fill(place, { parts: summary.parts }, 'trust', new Set(['audits']));
}
