// findings.js -- what is read first: whether something is wrong, who suffers, whose doing it is, what may help, and how far to trust that.
import { count, sentence, shown, span } from './format.js';
import { fill, make, titled } from './tables.js';

const NOTHING = 'nothing to judge', audited = ['misses', 'fairness', 'priority', 'starvation'];

/** @param {any} answer @param {string} name */
function partOf(answer, name) {
	return answer.parts?.find((/** @type {any} */ p) => p.name === name)?.rows ?? [];
}

/** Is it what the findings leave out, and no finding of its own: small ones, or misses that no doer alone decided? @param {any} row */
function isRest(row) {
	return ['others', 'several', 'untold'].includes(row.finding);
}

/** Is it a finding about where time goes, where nothing need be wrong? @param {any} row */
function isCost(row) {
	return row.finding !== 'burst_per_call' && / overhead( |$)/.test(row.see ?? '');
}

/** @param {any} summary @param {any} about */
function trustOf(summary, about) {
	const c = summary.coverage ?? {}, [trust] = partOf(summary, 'trust'), lost = c.lost_events || c.lost_packets || c.losses || c.cut || c.unreadable_traces || c.service_uids;

	return make('p', { class: lost ? 'trust lost' : 'trust' }, make('strong', {}, 'Trust: '), about.coverage,
		`.${trust ? ` ${count(trust.n_executions)} executions.` : ''}`,
		about.part && about.asked ? ' The timeline and charts show the part that was asked for (--where, --from, --to, or the time of a case); these findings are about the whole recording.' : '');
}

/** A word and a colour for the result of an audit, grey where there was nothing to judge; for misses, from what it says. @param {any} row @returns {[string, string]} */
function resultOf(row) {
	if (row.audit !== 'misses')
		return row.result === 'pass' ? ['pass', 'pass'] : row.result === 'fail' || row.result === 'FAIL' ? ['FAIL', 'fail'] : row.result === NOTHING ? [NOTHING, 'idle'] : [row.result ?? 'cannot tell', 'unsure'];
	if (/^no execution/.test(row.what))
		return [NOTHING, 'idle'];
	return /^none of/.test(row.what) ? ['none missed', 'pass'] : /^at least 0 /.test(row.what) ? ['cannot tell', 'unsure'] : ['FAIL', 'fail'];
}

/** @param {string} audit */
function titleOf(audit) {
	return audit === 'misses' || audit === 'deadlines' ? 'Deadlines' : audit[0].toUpperCase() + audit.slice(1);
}

/** Deadlines and the three verdicts, in the order of the page. @param {any} summary @returns {any[]} */
function auditedOf(summary) {
	return audited.flatMap((name) => partOf(summary, 'audits').filter((/** @type {any} */ row) => row.audit === name));
}

/** What stands below the name of an audit; of missed deadlines, who missed most of them is above. @param {any} row @param {any} summary */
function briefOf(row, summary) {
	const [missed] = partOf(summary, 'missed'), audit = row.audit === 'misses' ? 'deadlines' : row.audit;
	const numbered = /** @type {{r: any, n: number}[]} */ (summary.rows ?? []).filter((/** @type {any} */ r) => !isCost(r) && !isRest(r)).map((/** @type {any} */ r, /** @type {number} */ i) => ({ r, n: i + 1 }));
	const by = numbered.filter(({ r }) => r.doer && r.fails?.split(', ').includes(audit)).map(({ r, n }) => `${n} (${r.doer})`);
	const see = by.length && row.audit !== 'misses' ? `; below: ${by.join(', ')}` : '';

	return row.audit === 'misses' && missed ? `${missed.what}${missed.mostly ? `; most by ${missed.mostly}` : ''}` : row.what + see;
}

/** Deadlines and the three verdicts, in a line. Where something is wrong, a verdict that passes needs no sentence. @param {any} summary @param {boolean} wrong */
function auditsOf(summary, wrong) {
	const rows = auditedOf(summary);

	return make('ul', { class: 'verdicts audits', 'aria-label': 'audits' }, ...rows.map((row) => {
		const [word, colour] = resultOf(row), name = titleOf(row.audit), brief = wrong && ['pass', 'idle'].includes(colour);

		return make('li', { class: `verdict ${colour}`, title: sentence(row.what) }, make('strong', {}, `${name}: ${word}`), ...(brief ? [] : [make('br'), make('span', { class: 'note' }, sentence(briefOf(row, summary)))]));
	}));
}

/** From when to when, a link into the timeline to where it began. @param {any} row @param {string} prefix of links */
function whenOf(row, prefix) {
	if (typeof row.first_at !== 'number')
		return null;
	const at = row.first_at / 1e9, link = make('a', { href: `#${prefix}t=${Math.max(0, at - 0.005).toFixed(6)}s..${Math.max(0.02, at + 0.02).toFixed(6)}s` }, span(row.first_at, row.last_at));

	return make('span', {}, make('strong', {}, 'When: '), link);
}

/** @param {(string | null | undefined)[][]} facts names and values @returns {HTMLElement[]} */
function factSpans(facts) {
	return facts.filter(([, value]) => value).map(([name, value]) => make('span', {}, make('strong', {}, `${name}: `), sentence(String(value))));
}

/** "gallery (12 sure, 59 likely)" @param {any} row of a finding */
function doerOf(row) {
	return row.doer && row.certainty ? `${row.doer} (${row.certainty !== 'sure' && row.sure ? `${count(row.sure)} sure, ${count(row.misses - row.sure)} likely` : row.certainty})` : row.doer ?? (row.who && !isCost(row) ? 'nobody is known' : null);
}

/** Who, whose doing, how certain that is, when, what may help, and where there is more. @param {any} row of a finding @param {string} prefix of links */
function factsOf(row, prefix) {
	const when = whenOf(row, prefix), cost = isCost(row);
	const line = make('p', { class: 'facts' }, ...factSpans([[cost ? 'Where' : 'Who suffers', row.who], ['Whose doing', doerOf(row)], ['How certain', row.proof], [cost ? 'What may make it quicker' : 'What may help', row.advice ?? row.next]]), ...(row.fails ? [make('span', {}, make('strong', {}, 'Fails: '), row.fails.split(', ').map(titleOf).join(', '))] : []));

	if (when)
		line.append(when);
	if (row.see)
		line.append(make('span', { class: 'note' }, 'More: ', make('code', {}, shown(row.see))));
	return line;
}

/** A sentence in which each name of a cause tells what it means. @param {string} text @param {string[][]} causes names and meanings @returns {(Node | string)[]} */
function withCauses(text, causes) {
	const meaning = new Map(/** @type {[string, string][]} */ (causes));

	return text.split(/\b/).map((word) => (meaning.has(word) ? make('abbr', { title: meaning.get(word) ?? '' }, word) : word));
}

const EVIDENCE_SHOWN = 260, EVIDENCE_LONG = 400; // characters; what more there is would push the next finding off the screen

/** What else is known of a finding: what is longer than a few lines is folded. @param {string} evidence clauses */
function evidenceOf(evidence) {
	const clauses = sentence(evidence).split('; ');
	let n = evidence.length <= EVIDENCE_LONG ? clauses.length : 1;

	while (n < clauses.length && clauses.slice(0, n + 1).join('; ').length <= EVIDENCE_SHOWN)
		n++;
	return [make('p', { class: 'evidence' }, 'Also seen: ', `${clauses.slice(0, n).join('; ')}.`),
		...(n < clauses.length ? [make('details', { class: 'evidence' }, make('summary', {}, `${clauses.length - n} more`), make('span', {}, `${clauses.slice(n).join('; ')}.`))] : [])];
}

/** @param {any} row of a finding @param {any} about @param {string} prefix of links */
function findingOf(row, about, prefix) {
	if (isRest(row))
		return make('li', { class: 'rest' }, make('p', { class: 'what' }, ...withCauses(sentence(row.what), about.causes)), ...(row.advice ? [make('p', { class: 'facts' }, ...factSpans([['What may help', row.advice]]))] : []));
	return make('li', {}, make('p', { class: 'what' }, sentence(row.what)), factsOf(row, prefix),
		...(row.evidence ? evidenceOf(row.evidence) : []));
}

/** What costs most time, where nothing need be wrong. @param {any[]} rows @param {boolean} wrong are there findings? @param {string} prefix of links */
function costsOf(rows, wrong, prefix) {
	return make('div', { class: 'cost' }, make('h3', {}, wrong ? 'Beside that: where the time of answered executions went' : 'Where the time of answered executions went'), ...rows.flatMap((row) => [make('p', {}, `${sentence(row.what)}.`), factsOf(row, prefix)]));
}

/** What words mean that a reader may not know, each if @text has it, in the order of the text. */
const meanings = /** @type {[RegExp, string][]} */ ([[/\bexecutions?\b/, 'an execution is one run of a model for an app'],
	[/\blanes?\b/, 'a lane is a place on the accelerator where one execution runs at a time'],
	[/\bbursts?\b/, 'a burst is a channel that an app keeps, to execute one model again and again'],
	[/\b(its|their) share\b/, 'the share of an app is an equal part of the lanes\' time, for each app that has work'],
	[/\breplays?\b/, 'a replay computes from the recording what would have happened without something'],
	[/\((sure|likely|[\d\s]+ sure, [\d\s]+ likely)\)/, 'the certainty of whose doing it is: sure where a replay without it meets the deadline, where too little time was left anyway, or where it was observed as it is; likely where it was most of the delay, and a replay cannot tell'],
	[/\bthe machine\b/, 'the machine is named where a thread or a run had work and was not given a cpu in time'],
	[/\bno single doer\b/, 'no single doer: whichever of its causes is taken away, a replay misses the deadline, too; the largest part of the delay is in parentheses'],
	[/\bnnburstd\b/, 'nnburstd is the service that runs the models of all apps'],
	[/\bsummed over executions\b/, 'what is summed over executions can be longer than the recording, as several wait at a time'],
	[/\boverhead\b/, 'overhead is all time from the app\'s call to its answer but the model\'s own run'],
	[/\bslots?\b/, 'a slot is a number by which a burst names memory that the service has mapped'],
	[/\((sync|async|fenced)\)/, '(sync), (async) and (fenced) are single calls, for which an app keeps no channel'],
	[/\btoo long\b/, 'a wait for a lane is too long if it takes more than 100 ms and more than ten times the usual run of its model'],
	[/limit: \d+\s%\sand\s/, 'a limit of two figures is exceeded where both are'],
	[/\bp95\b/, 'p95 is what 95 of 100 do not exceed']]);

/** What the words of @text mean that @before does not have. @param {string} text @param {string} before @returns {HTMLElement[]} */
function wordsOf(text, before) {
	const found = meanings.map(([word, means]) => ({ at: before.search(word) < 0 ? text.search(word) : -1, means })).filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);

	return found.length ? [make('p', { class: 'note words' }, titled(`${found.map(({ means }) => means).join('; ')}.`))] : [];
}

/** How many deadlines were missed, whose, by whose doing, and how. @param {any} summary @returns {HTMLElement[]} */
function missedOf(summary) {
	return partOf(summary, 'missed').map((/** @type {any} */ row) => make('div', { class: 'missed' }, make('p', { class: 'what' }, `${sentence(row.what)}.`),
		make('p', { class: 'facts' }, ...factSpans([['Who missed', row.who], ['Whose doing', row.doing], ['How', row.how]]))));
}

/** In a line: how many things are wrong, and which verdicts fail; or that nothing was seen to be wrong, and whether it would have been seen. @param {any} summary */
function headlineOfAll(summary) {
	const wrong = (summary.rows ?? []).filter((/** @type {any} */ row) => !isCost(row) && !isRest(row)).length;
	const judged = auditedOf(summary);

	const failed = judged.filter((/** @type {any} */ row) => resultOf(row)[1] === 'fail').map((/** @type {any} */ row) => titleOf(row.audit));
	const fails = failed.length ? `${wrong ? '; ' : ''}${failed.length === 1 ? 'one verdict fails' : `${failed.length} verdicts fail`}: ${failed.join(', ')}` : '';

	if (wrong)
		return `${wrong === 1 ? 'One thing is wrong' : `${count(wrong)} things are wrong${summary.rows[0].misses === undefined || summary.rows[0].misses === null ? '' : ', missed deadlines first'}`}${fails}`;
	if (fails)
		return sentence(fails);
	if (!judged.every((/** @type {any} */ row) => ['pass', 'idle'].includes(resultOf(row)[1]) && !/at least|unknown|cannot/.test(row.what)))
		return 'Nothing wrong was seen, but not every verdict could be reached.';
	return judged.some((/** @type {any} */ row) => /^none of/.test(row.what)) ? 'Nothing wrong was seen: no deadline was missed, and no verdict failed.' : 'Nothing wrong was seen: no verdict failed, and there were no deadlines.';
}

/** @param {HTMLElement} place @param {any} summary @param {any} about @param {string} prefix of links into its timeline */
export function fillFindings(place, summary, about, prefix = '') {
	const trust = trustOf(summary, about);

	place.append(trust);
	if (summary.error) {
		place.append(make('p', { class: 'bad' }, summary.error));
		return;
	}
	const rows = summary.rows ?? [], costs = rows.filter(isCost), wrong = rows.filter((/** @type {any} */ row) => !isCost(row));
	const list = wrong.length ? [make('ol', { class: 'found' }, ...wrong.map((/** @type {any} */ row) => findingOf(row, about, prefix)))] : [];
	const audits = auditsOf(summary, wrong.length > 0), missed = missedOf(summary), said = [...missed, ...list].map((part) => part.textContent).join(' '), rest = [...(costs.length ? [costsOf(costs, wrong.length > 0, prefix)] : [])];

	const headline = headlineOfAll(summary), of = about.part && about.asked ? `In the whole recording: ${headline[0].toLowerCase()}${headline.slice(1)}` : headline;

	place.append(make('h3', { class: 'headline' }, of), ...missed, audits, ...list, ...wordsOf(said, ''), ...rest, ...wordsOf([trust, ...rest, audits].map((part) => part.textContent).join(' '), said));
}

/** What stands behind the first screen: each audit in a line, and the rules of the verdicts. @param {HTMLElement} place @param {any} summary */
export function fillAudits(place, summary) {
	fill(place, { ...summary, notes: [] }, 'audits', new Set(['summary', 'trust', 'executions']));
	fill(place, { parts: summary.parts }, 'trust', new Set(['audits']));
}
