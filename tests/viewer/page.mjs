// page.mjs -- the checks of page.sh. `dump DB BURSTSCOPE` prints the answers of the commands about DB, and its
// executions. `look BURSTSCOPE NAME...` compares the figures of those pages with that. `look BURSTSCOPE` opens all
// pages in the working directory: their figures must be those, the pages must use no network and print nothing on the
// console, and their structure at three sizes must be that of page.structure (NNB_BLESS=1 writes it: look at the
// pictures first).
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { Browser } from './browser.mjs';
import { structure } from './structure.mjs';

const commands = ['summary', 'misses', 'latency', 'overhead', 'fairness', 'priority', 'starvation', 'preemptions', 'slots', 'memory'];

function dump(db, burstscope) {
	const ask = (...args) => JSON.parse(execFileSync(burstscope, [...args, '--format', 'json', db], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] }));
	const rows = (sql) => JSON.parse(execFileSync(burstscope, ['sql', '--format', 'json', db, sql], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })).rows;
	const began = '(SELECT min(began) FROM trace)';

	console.log(JSON.stringify({
		answers: Object.fromEntries(commands.map((c) => [c, ask(c)])),
		executions: rows(`SELECT id AS x, app_id, e2e_ns, queue_ns, run_ns, lateness_ns, deadline - coalesce(submitted, request_written, request_read, decoded, fenced,
			enqueued, dispatched, run_ended, result_written, result_read, returned, signalled, missed_at, deadline) AS till, miss, status, quality
			FROM execution ORDER BY id`),
		slices: rows(`SELECT count(*) AS n, sum(ended - began) AS held, sum(max(0, min(ended, (SELECT max(ended) FROM trace)) - max(began, ${began}))) AS held_within FROM lane_slice`),
		causes: rows('SELECT execution_id AS x, cause, late_ns FROM miss_cause ORDER BY execution_id, is_primary DESC, late_ns DESC'),
		worst: ask('misses', '--part', 'worst').rows.map((row) => String(row.id)),
		losses: rows('SELECT count(*) AS n FROM loss'),
		cpus: rows("SELECT cpu, sum(iif(did = 'thread', ended - began, 0)) AS busy, sum(ended - began) AS known FROM cpu_state WHERE did <> 'irq' GROUP BY cpu ORDER BY cpu"),
		without: rows(`SELECT execution_id AS x, count(*) AS n, sum(met) AS met FROM miss_without WHERE met IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT 1`),
		runs: rows(`SELECT s.execution_id AS x, s.began - ${began} AS began, s.ended - ${began} AS ended FROM lane_slice s JOIN execution e ON e.id = s.execution_id
			WHERE e.preemptions > 0 ORDER BY 1, 2`),
		rules: rows('SELECT count(*) AS n FROM service_rules UNION ALL SELECT count(*) FROM trace'),
		matrix: rows(`SELECT ifnull(nullif(a.name, ''), 'app ' || a.key) AS victim, ifnull(nullif(b.name, ''), 'app ' || b.key) AS culprit, cast(x.app_id AS TEXT) AS victim_key, cast(c.culprit_app_id AS TEXT) AS culprit_key, count(*) AS n
			FROM miss_cause c JOIN execution x ON x.id = c.execution_id LEFT JOIN app a ON a.id = x.app_id LEFT JOIN app b ON b.id = c.culprit_app_id WHERE c.is_primary
			GROUP BY x.app_id, c.culprit_app_id`),
		links: rows(`SELECT (SELECT count(*) FROM preemption WHERE by_execution_id > 0) AS preemptions, (SELECT count(*) FROM inversion WHERE holder_id > 0) AS inversions`),
		spans: rows(`WITH x AS (SELECT a.name AS app, e2e_ns, miss, quality = 'complete' AND status = 'NONE' AND e2e_ns IS NOT NULL AS answered
			FROM execution JOIN app a ON a.id = app_id WHERE submitted - ${began} >= 10000000 AND submitted - ${began} < 40000000),
			ranked AS (SELECT app, e2e_ns, row_number() OVER (PARTITION BY app ORDER BY e2e_ns) AS nth, count(*) OVER (PARTITION BY app) AS n FROM x WHERE answered),
			held AS (SELECT a.name AS app, sum(min(s.ended - ${began}, 40000000) - max(s.began - ${began}, 10000000)) AS ns FROM lane_slice s JOIN execution e ON e.id = s.execution_id
				JOIN app a ON a.id = e.app_id WHERE s.ended - ${began} > 10000000 AND s.began - ${began} < 40000000 GROUP BY 1)
			SELECT app, count(*) AS n, sum(miss IS NOT NULL) AS missed, sum(answered) AS answered,
				(SELECT e2e_ns FROM ranked r WHERE r.app = x.app AND r.nth = (50 * r.n + 99) / 100) AS p50, (SELECT e2e_ns FROM ranked r WHERE r.app = x.app AND r.nth = (99 * r.n + 99) / 100) AS p99,
				round(100.0 * (SELECT ns FROM held h WHERE h.app = x.app) / (30000000 * (SELECT count(*) FROM (SELECT DISTINCT instance, lane FROM lane_slice))), 6) AS lane
			FROM x GROUP BY 1 ORDER BY 1`),
	}));
}

const b = process.argv[2] === 'look' ? new Browser() : null;
let looked = 0, failures = 0, arrows = 0, replays = 0, matrices = 0, stretches = 0, cpus = 0;

function equal(what, is, wanted) {
	looked++;
	if (JSON.stringify(is) === JSON.stringify(wanted))
		return;
	failures++;
	console.log(`page.mjs: ${what}: ${JSON.stringify(is)?.slice(0, 300)}, not ${JSON.stringify(wanted)?.slice(0, 300)}`);
}

async function open(name, { hash = '', ...how } = {}) {
	await b.open(`file://${process.cwd()}/${name}.html${hash}`, how);
	equal(`${name}: complaints`, b.complaints(), []);
}

/** Every table of the page, in order, with the cells of the answer. */
const tables = `[...document.querySelectorAll('table')].map((t) => ({ title: t.caption.firstChild.textContent,
	rows: [...t.tBodies[0].rows].filter((r) => !r.classList.contains('unfold')).map((r) => [...r.cells].map((c) => c.dataset.value)) }))`;

/** The parts of @answer are tables of the page, cell by cell; @all is from tables(). */
function answerAgrees(name, answer, all, without = []) {
	for (const part of [answer, ...answer.parts].filter((p) => p.rows.length && !without.includes(p))) {
		const cells = JSON.stringify(part.rows.map((r) => part.columns.map((c) => String(r[c.name]))));

		equal(`${name}: ${answer.command} ${part.name ?? ''}: a table of it`, all.some((t) => JSON.stringify(t.rows) === cells), true);
	}
}

/** The tables of the page are the parts of the answers, cell by cell. */
async function tablesAgree(name, wanted) {
	const all = await b.value(tables);

	equal(`${name}: rules and traces`, await b.value(`['Rules of', 'Traces that'].map((w) => document.querySelector('#in-method').textContent.includes(w) && ${tables}.find((t) => t.title.startsWith(w))?.rows.length)`), wanted.rules.map((r) => r.n || false));
	for (const command of commands)
		answerAgrees(name, wanted.answers[command], all, command === 'summary' ? [wanted.answers.summary] : []);
	const culprits = wanted.answers.misses.parts.find((part) => part.name === 'culprits');
	equal(`${name}: misses by culprit: its first column`, await b.value("[...document.querySelectorAll('table')].filter((t) => t.caption.firstChild.textContent.startsWith('Misses by culprit')).map((t) => t.tHead.querySelector('button').textContent)"), culprits?.rows.length ? ['culprit'] : []);
	equal(`${name}: links into the timeline lead somewhere`, await b.value(`[...document.querySelectorAll('td a[href^="#"]')].map((a) => a.getAttribute('href')).filter((href) =>
		(href.startsWith('#exec=') ? burstscope.world.indexOf(Number(href.slice(6))) < 0 : !/^#t=[\\d.]+s\\.\\.[\\d.]+s$/.test(href) || parseFloat(href.slice(3)) >= parseFloat(href.split('..')[1])))`), []);
	const cost = (row) => row.finding !== 'burst_per_call' && row.see.startsWith('burstscope overhead');
	const rest = (row) => ['others', 'several', 'untold'].includes(row.finding), sure = (row) => (row.certainty !== 'sure' && row.sure ? `${row.sure} sure, ${row.misses - row.sure} likely` : row.certainty);
	const doer = (row) => (row.doer && row.certainty ? `${row.doer} (${sure(row)})` : row.doer ?? (row.who && !cost(row) ? 'nobody is known' : null)), told = (pairs) => pairs.flatMap(([fact, value]) => (value ? [`${fact}: ${value}`] : []));
	const titles = (fails) => fails.split(', ').map((word) => word[0].toUpperCase() + word.slice(1)).join(', ');
	const facts = (row) => (rest(row) ? told([['What may help', row.advice]]) : told([[cost(row) ? 'Where' : 'Who suffers', row.who], ['Whose doing', doer(row)], ['How certain', row.proof], [cost(row) ? 'What may make it quicker' : 'What may help', row.advice ?? row.next], ['Fails', row.fails && titles(row.fails)]]));
	const said = (text) => `${text}.`, [wrong, costs] = [false, true].map((way) => wanted.answers.summary.rows.filter((row) => cost(row) === way));
	const factsIn = (place) => `[...${place}.querySelectorAll('.facts > span:not(.note)')].map((s) => s.textContent).filter((s) => !/^When/.test(s))`;

	equal(`${name}: findings`, await b.value(`[...document.querySelectorAll('#in-findings ol.found > li')].map((li) => [li.querySelector('.what').textContent, li.querySelector('p.evidence') && [...li.querySelectorAll('p.evidence, details.evidence > span')].map((e) => e.textContent.replace(/\\.$/, '')).join('; '), ...${factsIn('li')}])`),
		wrong.map((row) => [row.what, row.evidence && `Also seen: ${row.evidence}`, ...facts(row)]));
	equal(`${name}: what costs most time`, await b.value(`[...document.querySelectorAll('#in-findings .cost')].map((place) => [[...place.querySelectorAll('p:not(.facts, .note)')].map((p) => p.textContent), ${factsIn('place')}])`),
		costs.length ? [[costs.map((row) => said(row.what)), costs.flatMap(facts)]] : []);
	equal(`${name}: when findings were`, await b.value("[...document.querySelectorAll('#in-findings ol.found > li')].map((li) => Boolean(li.querySelector('.facts a[href^=\"#t=\"]')))"), wrong.map((row) => row.first_at !== null));
	const part = (answer, which) => answer.parts.find(({ name: it }) => it === which)?.rows ?? [], missed = part(wanted.answers.summary, 'missed');

	equal(`${name}: how deadlines were missed`, await b.value(`[...document.querySelectorAll('#in-findings .missed')].map((place) => [place.querySelector('.what').textContent, ...${factsIn('place')}])`),
		missed.map((row) => [said(row.what), ...told([['Who missed', row.who], ['Whose doing', row.doing], ['How', row.how]])]));
	const sum = (rows) => rows.reduce((n, row) => n + (row.misses ?? 0), 0);

	if (missed.length)
		equal(`${name}: findings add up to all misses`, sum(wrong), wanted.answers.misses.parts.find(({ name: it }) => it === 'totals').rows[0].n_missed);
	equal(`${name}: what had nothing to judge is grey`, await b.value("[...document.querySelectorAll('#in-findings .audits .idle strong')].map((s) => s.textContent.toLowerCase())"),
		['misses', 'fairness', 'priority', 'starvation'].flatMap((audit) => wanted.answers.summary.parts.find((part) => part.name === 'audits').rows.filter((row) => row.audit === audit && (row.result === 'nothing to judge' || row.what.startsWith('no execution had')))
			.map(() => `${audit === 'misses' ? 'deadlines' : audit}: nothing to judge`)));
	equal(`${name}: verdicts that had nothing to judge`, await b.value("[...document.querySelectorAll('#in-fairness li.idle')].length"), ['fairness', 'priority', 'starvation'].flatMap((c) => wanted.answers[c].verdict.rules).filter((rule) => rule.pass && !rule.judged).length);
	equal(`${name}: words that the first screen explains`, await b.value("[['lane', /\\blanes?\\b/], ['burst', /\\bbursts?\\b/], ['share', /\\b(its|their) share\\b/], ['certainty', /\\((sure|likely|\\d+ sure, \\d+ likely)\\)/]].filter(([word, used]) => used.test(document.getElementById('in-findings').textContent) && ![...document.querySelectorAll('#in-findings .words')].some((p) => new RegExp(`(a|the) ${word} (is|of)`, 'i').test(p.textContent))).map(([word]) => word)"), []);
	equal(`${name}: nothing is still being read`, await b.value("document.querySelector('main').textContent.includes('being read')"), false);
	equal(`${name}: the first screen says how many things are wrong`, await b.value("document.querySelector('.headline').textContent.match(/^(One|\\d+)/)?.[0] ?? ''"),
		((n) => (n === 1 ? 'One' : n ? String(n) : ''))(await b.value("document.querySelectorAll('#in-findings ol.found > li:not(.rest)').length")));
	const [{ n_missed: n }] = wanted.answers.misses.parts.find(({ name: it }) => it === 'totals').rows;

	equal(`${name}: missed deadlines are red, whoever missed them and why`, await b.value("/^Deadlines: FAIL/.test(document.querySelector('#in-findings .audits .fail strong')?.textContent ?? '')"), n > 0);
	equal(`${name}: the first screen names the verdicts that fail`, await b.value("document.querySelector('.headline').textContent.match(/fails?: (.*)$/)?.[1] ?? ''"),
		(await b.value("[...document.querySelectorAll('#in-findings .audits .fail strong')].map((s) => s.textContent.split(':')[0])")).join(', '));
}

/** A preempted execution is drawn as its stretches on lanes. */
async function runsAgree(name, wanted) {
	const ids = [...new Set(wanted.runs.map(({ x }) => Number(x)))];

	equal(`${name}: stretches of what was preempted`, await b.value(`burstscope.timeline.show(0, burstscope.world.length), (${JSON.stringify(ids)}).map((id) => burstscope.timeline.runsOf(burstscope.world.indexOf(id), 0, Infinity).sort(([x], [y]) => x - y))`),
		ids.map((id) => wanted.runs.filter(({ x }) => Number(x) === id).map(({ began, ended }) => [Number(began), Number(ended)])));
	stretches += wanted.runs.length - ids.length;
}

/** The packed data are those of the database. */
async function packsAgree(name, wanted, page = 'burstscope') {
	const value = (column, i = 'i') => `(Number.isNaN(e.${column}.get(${i})) ? null : e.${column}.get(${i}))`;
	const is = await b.value(`(() => { const w = ${page}.world, e = w.executions; return Array.from({ length: e.n }, (_, i) => ({ x: e.id.get(i),
		app_id: ${value('app_id')}, e2e_ns: ${value('e2e_ns')}, queue_ns: ${value('queue_ns')}, run_ns: ${value('run_ns')}, lateness_ns: ${value('lateness_ns')},
		till: ${value('deadline')}, miss: e.miss_word.codes[i] ? w.word(e.miss_word, i) : null, status: e.status_word.codes[i] ? w.word(e.status_word, i) : null,
		quality: w.word(e.quality_word, i) })); })()`);

	equal(`${name}: executions`, is, wanted.executions.map((x) => ({ ...x, x: Number(x.x) })));
	equal(`${name}: slices`, await b.value(`${page}.timeline.lanes.reduce((n, l) => n + l.began.length, 0)`), wanted.slices[0].n);
	equal(`${name}: lane time`, await b.value(`${page}.timeline.lanes.reduce((n, l) => n + l.ended.reduce((s, e, i) => s + e - l.began[i], 0), 0)`), wanted.slices[0].held ?? 0);
	if (page === 'burstscope')
		equal(`${name}: lane time in the overview`, await b.value('Object.entries(burstscope.overview).filter(([k]) => k.startsWith("held_")).flatMap(([, held]) => held).reduce((x, y) => x + y, 0)'), wanted.slices[0].held_within ?? 0);
	equal(`${name}: causes`, await b.value(`(() => { const w = ${page}.world, e = w.causes; return Array.from({ length: e.n }, (_, i) => ({ x: e.execution_id.get(i),
		cause: w.word(e.cause_word, i), late_ns: ${value('late_ns')} })); })()`), wanted.causes.map((x) => ({ ...x, x: Number(x.x) })));
}

/** Losses are striped: without the stripes, those places look different. */
async function lossesAgree(name, wanted) {
	const { n } = wanted.losses[0], strip = "(() => { burstscope.timeline.draw(); const c = document.getElementById('lanes'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((h, v) => (h * 31 + v) | 0, 0); })()";

	equal(`${name}: losses`, await b.value('burstscope.world.losses.n'), n);
	const drawn = await b.value(strip), without = await b.value(`(() => { const { losses } = burstscope.world; burstscope.world.losses = null; const r = ${strip}; burstscope.world.losses = losses; return r; })()`);
	equal(`${name}: what was lost is striped`, drawn !== without, n > 0);
}

/** The cpus are drawn under the lanes: without them, that place looks different. */
async function cpusAgree(name, wanted) {
	const strip = "(() => { burstscope.timeline.draw(); const c = document.getElementById('lanes'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.reduce((h, v) => (h * 31 + v) | 0, 0); })()";

	equal(`${name}: cpus`, await b.value('burstscope.timeline.cpus.map((c) => ({ cpu: Number(c.name.slice(4)), busy: c.busy.at(-1), known: c.known.at(-1) }))'), wanted.cpus);
	const drawn = await b.value(strip), without = await b.value(`(() => { const { cpus } = burstscope.timeline, idle = cpus.map((c) => c.busy);
		cpus.forEach((c) => { c.busy = c.busy.map(() => 0); }); const r = ${strip}; cpus.forEach((c, i) => { c.busy = idle[i]; }); return r; })()`);
	equal(`${name}: what cpus did is drawn`, drawn !== without, wanted.cpus.length > 0);
	cpus += wanted.cpus.length;
}

/** The panel of the first miss with an answer from a replay has that answer. */
async function replaysAgree(name, wanted) {
	for (const { x, n, met } of wanted.without) {
		await b.value(`burstscope.pick(burstscope.world.indexOf(${x}), true)`);
		equal(`${name}: replays of ${x}`, await b.value(`[...document.querySelectorAll('#execution table')].filter((t) => t.caption.textContent.startsWith('Replayed')).flatMap((t) =>
			[...t.tBodies[0].rows].map((r) => r.cells[1].textContent)).filter((s) => s).reduce((n, s) => [n[0] + 1, n[1] + (s === 'met')], [0, 0])`), [n, met]);
		replays += n;
	}
}

const MOST_LATE = 50; // main.js lists so many

/** The list of late misses has the order of burstscope misses. */
async function worstAgree(name, wanted) {
	const rows = (await b.value(tables)).find((t) => t.title.startsWith('The most late ones'))?.rows ?? [];

	equal(`${name}: the most late misses`, rows.slice(0, MOST_LATE).map(([id]) => id), wanted.worst.slice(0, MOST_LATE));
}

/** A matrix of the page: the name of each row, with each column's name and figure; null: the page has none. */
const matrixOnPage = (kind) => b.value(`(() => { const table = document.querySelector('.matrix.${kind}'), heads = [...table?.tHead.rows[0].cells ?? []].slice(1).map((c) => c.textContent);
	return table && [...table.tBodies[0].rows].map((r) => [r.cells[0].textContent, ...[...r.cells].slice(1).map((c, i) => [heads[i], Number(c.dataset.value)])]); })()`);

/** The same matrix from pairs, the largest sums first; null: without pairs. */
function matrixWanted(pairs) {
	const inOrder = (side, name) => {
		const sums = new Map();

		for (const pair of pairs)
			sums.set(pair[side] ?? '', { n: (sums.get(pair[side] ?? '')?.n ?? 0) + pair.n, name: pair.names[name] ?? 'no app' });
		return [...sums].sort(([x, { n }], [y, { n: m }]) => m - n || (x < y ? -1 : 1));
	};

	return pairs.length ? inOrder('row', 0).map(([row, { name }]) => [name, ...inOrder('column', 1).map(([column, head]) => [head.name,
		pairs.filter((p) => (p.row ?? '') === row && (p.column ?? '') === column).reduce((n, p) => n + p.n, 0)])]) : null;
}

/** With more apps than a matrix has room for, it has the sum of the others, too. */
async function othersAgree() {
	const matrix = await matrixOnPage('interference'), waits = (await b.value(tables)).find((t) => t.title.startsWith('Waits for a lane')).rows;
	const sum = (cells) => cells.reduce((n, [, ns]) => n + ns, 0), last = matrix[matrix.length - 1];
	const apps = new Set(waits.map(([app]) => app)).size, rest = (n) => `${n - 20} others`;

	equal('more apps than a matrix has: rows and columns', [matrix.length, last[0], new Set(matrix.map((row) => row.length)).size, last[last.length - 1][0]], [21, rest(apps), 1, rest(new Set(waits.map(([, by]) => by)).size)]);
	equal('all that they waited', matrix.reduce((n, [, ...cells]) => n + sum(cells), 0), waits.reduce((n, row) => n + Number(row[2]), 0));
	equal('the sum of the others', sum(last.slice(1)), waits.filter(([app]) => !matrix.some(([name]) => name === app)).reduce((n, row) => n + Number(row[2]), 0));
}

/** The matrix of victims by culprits, and arrows between their rows if few enough to be drawn. */
async function linksAgree(name, wanted) {
	const [{ preemptions, inversions }] = wanted.links;
	const waits = wanted.answers.fairness.parts.find((p) => p.name === 'interference')?.rows ?? [];

	equal(`${name}: victims by culprits`, await matrixOnPage('misses'), matrixWanted(wanted.matrix.map((m) => ({ row: m.victim_key, column: m.culprit_key, names: [m.victim, m.culprit], n: m.n }))));
	equal(`${name}: who waited for whom`, await matrixOnPage('interference'), matrixWanted(waits.map((w) => ({ row: w.app, column: w.waited_for, names: [w.app, w.waited_for], n: w.waited_ns }))));
	matrices += waits.length;
	equal(`${name}: arrows`, await b.value("['preemption', 'inversion'].map((k) => burstscope.timeline.links.filter((l) => l.kind === k).length)"),
		preemptions + inversions > 300 ? [0, 0] : [preemptions, inversions]);
	arrows += preemptions + inversions > 300 ? 0 : preemptions + inversions;
}

async function figures(names = ['camera', 'unfair', 'lossy', 'native', 'whatif', 'habit', 'service']) {
	for (const name of names) {
		const wanted = JSON.parse(readFileSync(`${name}.wanted`, 'utf8'));

		await open(name);
		equal(`${name}: how far to trust it, as the commands say`, await b.value("document.querySelector('#findings .trust').textContent.replace(/^Trust: /, '').replace(/\\. [^.]* executions\\.$/, '')"), readFileSync(`${name}.coverage`, 'utf8').trim());
		await tablesAgree(name, wanted);
		await packsAgree(name, wanted);
		await linksAgree(name, wanted);
		await replaysAgree(name, wanted);
		await worstAgree(name, wanted);
		await lossesAgree(name, wanted);
		await runsAgree(name, wanted);
		await cpusAgree(name, wanted);
	}
	if (!process.argv[4])
		equal('some arrows, replays, waits, preempted stretches and cpus were looked at', [arrows, replays, matrices, stretches, cpus].every((n) => n > 0), true);
}

/** The place of an execution in the drawing, for the mouse. */
const boxOf = (index) => `(() => { const box = burstscope.timeline.boxes.findLast((x) => x.index === ${index}), r = document.getElementById('lanes').getBoundingClientRect();
	return box && [r.x + box.x + box.width / 2, r.y + box.y + box.height / 2]; })()`;

/** The keyboard reaches everything. */
async function keys() {
	const chosen = "burstscope.world.executions.id.get(burstscope.timeline.picked)", began = 'burstscope.world.executions.began';

	await open('camera', { hash: '#exec=3' });
	equal('an address shows an execution', await b.value(`[${chosen}, !document.getElementById('execution').hidden]`), [3, true]);
	await b.key('n');
	equal('keys work where an address leads', await b.value('burstscope.world.missed(burstscope.timeline.picked)'), true);
	await open('camera', { hash: '#t=10ms..40ms' });
	equal('an address shows a span', await b.value('[burstscope.timeline.from, burstscope.timeline.to, ...burstscope.timeline.selection]'), [1e7, 4e7, 1e7, 4e7]);
	await b.value("document.querySelector('.skip').focus()");
	for (let i = 0; i < 40 && await b.value("document.activeElement.id !== 'lanes'"); i++)
		await b.key('Tab');
	equal('Tab leads to the timeline', await b.value('document.activeElement.id'), 'lanes');
	await b.key('0');
	await b.key('x');
	equal('x selects what is shown', await b.value('burstscope.timeline.selection'), await b.value('[0, burstscope.world.length]'));
	equal('x: its address', await b.value("location.hash === document.querySelector('#selection .note a').getAttribute('href')"), true);
	await b.key('Escape');
	equal('Escape ends that', await b.value('[burstscope.timeline.selection, location.hash]'), [null, '#timeline']);
	const order = await b.value(`[...Array(burstscope.world.executions.n).keys()].sort((x, y) => ${began}.get(x) - ${began}.get(y) || x - y).map((i) => burstscope.world.executions.id.get(i))`), walked = [];
	for (let i = 0; i < 5; i++) {
		await b.key('j');
		walked.push(await b.value(chosen));
	}
	equal('j goes from one to the next', walked, order.slice(0, 5));
	await b.key('k');
	equal('k goes back', await b.value(chosen), order[3]);
	await b.value("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }");
	await b.value("document.querySelector('#in-misses button.copy').focus()");
	await b.key('Enter');
	await b.until('globalThis.copied');
	const lines = await b.value("copied.trimEnd().split('\\n').map((line) => line.split('\\t').length)"), table = await b.value("(({ tHead, tBodies }) => [tHead.rows[0].cells.length, tBodies[0].querySelectorAll('tr:not(.unfold)').length])(document.querySelector('#in-misses table'))");
	equal('a table copied as text', lines, [1, ...Array(table[1] + 1).fill(table[0])]);
	await b.send('Emulation.setEmulatedMedia', { media: 'print', features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
	equal('on paper: light, whole, without buttons', await b.value(`[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('nav')).display,
		[...document.querySelectorAll('tbody.folded tr:not(.unfold)')].every((r) => r.offsetHeight > 0)]`), ['rgb(255, 255, 255)', 'none', true]);
	await b.send('Emulation.setDeviceMetricsOverride', { width: 718, height: 1000, deviceScaleFactor: 1, mobile: false }); // A4 without its margins
	await b.until(`document.querySelectorAll('table.stacked').length > 0 && document.documentElement.scrollWidth <= innerWidth`);
	equal('on paper: no table sticks out', await b.value("[...document.querySelectorAll('.scroll')].filter((s) => s.scrollWidth > s.clientWidth + 1).map((s) => s.ariaLabel)"), []);
	await b.send('Emulation.setEmulatedMedia', { media: '' });
	equal('complaints of all that', b.complaints(), []);
}

async function hands() {
	const wanted = JSON.parse(readFileSync('camera.wanted', 'utf8'));
	const span = () => b.value('burstscope.timeline.to - burstscope.timeline.from');

	await open('camera');
	await b.value("document.getElementById('lanes').scrollIntoView({ block: 'center' }); document.getElementById('lanes').focus()");
	const all = await span();
	await b.key('w');
	equal('w zooms', await span() < all, true);
	await b.key('0');
	equal('0 shows all', await span(), all);

	const first = wanted.executions.filter((x) => x.miss).length;
	equal('misses to step through', await b.value('burstscope.world.missedInOrder().length'), first);
	await b.key('n');
	const shown = await b.value('burstscope.world.executions.id.get(burstscope.timeline.picked)');
	equal('n shows a miss', wanted.executions.find((x) => Number(x.x) === shown)?.miss !== null, true);
	equal('its address', await b.value('location.hash'), `#exec=${shown}`);
	const ledger = wanted.causes.filter((c) => Number(c.x) === shown).map((c) => [c.cause, String(c.late_ns)]);

	ledger.push(['sum', String(wanted.executions.find((x) => Number(x.x) === shown).lateness_ns)]);
	equal('its ledger', await b.value(`[...document.querySelectorAll('#execution table')].filter((t) => t.caption.textContent.startsWith('Why')).flatMap((t) =>
		[...t.tBodies[0].rows].filter((r) => !r.classList.contains('unfold')).map((r) => [r.cells[0].dataset.value, r.cells[3].dataset.value]))`), ledger);

	await b.value('burstscope.timeline.picked = -1, document.getElementById("execution").hidden = true, burstscope.timeline.draw()');
	const at = await b.value(boxOf(`burstscope.world.indexOf(${shown})`));
	await b.mouse('mouseMoved', at[0], at[1], { buttons: 0 });
	equal('what is below the mouse', await b.value("!document.getElementById('tip').hidden && document.getElementById('tip').textContent.includes('execution')"), true);
	await b.mouse('mousePressed', ...at);
	await b.mouse('mouseReleased', ...at);
	equal('a click shows it', await b.value('!document.getElementById("execution").hidden && burstscope.world.executions.id.get(burstscope.timeline.picked)'), shown);

	await b.value("location.hash = '#t=10ms..40ms'");
	await b.until("document.querySelector('#selection table')");
	const rowsOf = (table) => b.value(`[...document.querySelectorAll('#selection table')[${table}].querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.dataset.value))`);
	const rows = await rowsOf(0), models = await rowsOf(1);
	for (const app of rows)
		equal(`selected: models of ${app[0]}`, [1, 2, 3].map((c) => models.filter((m) => m[0] === app[0]).reduce((n, m) => n + Number(m[c + 1]), 0)), app.slice(1, 4).map(Number));
	const command = await b.value("document.querySelector('#selection code').textContent");
	execFileSync('sh', ['-c', command.replace(/^burstscope/, process.argv[3])], { stdio: 'ignore' });
	equal('the command exports the span', statSync('part.pftrace').size > 100, true);
	equal('selected: each figure', rows.map((r) => [r[0], ...r.slice(1).map((v, i) => (v === 'null' ? null : i === 5 ? Math.round(1e6 * v) / 1e6 : Number(v)))]).sort(([x], [y]) => (x < y ? -1 : 1)),
		wanted.spans.map((s) => [s.app, s.n, s.missed, s.answered, s.p50, s.p99, s.lane]));
	equal('submitted then, by the bins of the overview: at least, at most', await b.value(`(() => { const w = burstscope.world, begins = Array.from({ length: w.executions.n }, (_, i) => w.executions.began.get(i));
		return [[10e6, 40e6], [0, w.length], [12345678, 12345679], [w.length / 4, w.length / 2]].every(([from, to]) => { const [least, most] = w.submittedIn(from, to), n = begins.filter((at) => at >= from && at < to).length; return least <= n && n <= most && (n < 50 || least > n / 2); }); })()`), true);
	const said = "document.getElementById('found').textContent", end = await b.value('burstscope.world.length');
	await b.value("location.hash = '#t=40s..50s'");
	await b.until(`${said}.startsWith('Nothing of that span was recorded: the recording is from 0.000 ms to ')`);
	equal('nothing is selected after the end', await b.value("[burstscope.timeline.selection, document.getElementById('selection').children.length]"), [null, 0]);
	await b.value("location.hash = '#t=10ms..50s'");
	await b.until(`${said}.startsWith('Selected is what was recorded of that span')`);
	equal('selected up to the end', await b.value('burstscope.timeline.selection'), [10e6, end]);
	execFileSync('sh', ['-c', (await b.value("document.querySelector('#selection code').textContent")).replace(/^burstscope/, process.argv[3])], { stdio: 'ignore' });
	await b.value("location.hash = '#t=-2s..-1s'");
	await b.until('burstscope.timeline.selection === null');
	equal('nothing is selected before the begin', await b.value(said).then((text) => text.startsWith('Nothing of that span')), true);
	await b.value("location.hash = '#t=-2s..10ms'");
	await b.until('burstscope.timeline.selection');
	equal('selected from the begin', await b.value('burstscope.timeline.selection'), [0, 10e6]);
	await b.value("location.hash = '#t=4s..1ms'");
	await b.until(`${said}.startsWith('A span is written with units') && !burstscope.timeline.selection`);
	await b.value("location.hash = '#t=10ms..20ms'");
	await b.until('burstscope.timeline.selection');
	await b.value("location.hash = '#t=1.2..1.4'");
	await b.until(`${said}.startsWith('A span is written with units') && !burstscope.timeline.selection`);
	await b.value("location.hash = '#t=1,2s..1,4s'");
	await b.until(`${said}.startsWith('A span is written with units') && !burstscope.timeline.selection`);
	await b.value("location.hash = '#exec=3'");
	await b.until(`${said} === '' && !document.getElementById('execution').hidden`);
	for (const [id, words] of [[99999, `There is no execution 99999: the last one is ${wanted.executions.length}.`], ['-1', "'-1' is not the number of an execution, as in #exec=31."], ['3%27x', "'3%27x' is not the number of an execution, as in #exec=31."]]) {
		await b.value(`location.hash = '#exec=${id}'`);
		await b.until(`${said} === ${JSON.stringify(words)}`);
		equal(`nothing is shown of ${id}`, await b.value("[burstscope.timeline.picked, document.getElementById('execution').hidden]"), [-1, true]);
	}
	await b.value("location.hash = '#t=10ms..40ms'");
	await b.until(`${said} === '' && burstscope.timeline.selection`);
	await b.value('burstscope.timeline.select(10e6, 10e6 + 200)');
	execFileSync('sh', ['-c', (await b.value("document.querySelector('#selection code').textContent")).replace(/^burstscope/, process.argv[3])], { stdio: 'ignore' });
	equal('something was selected', wanted.spans.length > 0 && wanted.spans.some((s) => s.lane > 0), true);
	await b.value('burstscope.timeline.select(0, 0); burstscope.timeline.show(0, burstscope.world.length)');
	for (const [key, moved] of [['w', 'burstscope.timeline.to - burstscope.timeline.from < burstscope.world.length'], ['d', 'burstscope.timeline.from > 0'], ['0', 'burstscope.timeline.to - burstscope.timeline.from === burstscope.world.length']]) {
		await b.value(`document.querySelector('[data-key="${key}"]').click()`);
		equal(`a button: ${key}`, await b.value(moved), true);
	}
	await b.value("burstscope.timeline.picked = -1; document.querySelector('[data-key=\"n\"]').click()");
	equal('a button: the next miss', await b.value('burstscope.world.missed(burstscope.timeline.picked)'), true);
	await b.value('burstscope.timeline.show(0, burstscope.world.length); burstscope.timeline.select(0, 0); burstscope.timeline.draw()');
	const box = await b.value("(({ x, y, width }) => [x, y, width])(document.getElementById('lanes').getBoundingClientRect())");
	await b.mouse('mousePressed', box[0] + box[2] / 2, box[1] + 40);
	await b.mouse('mouseMoved', box[0] + box[2] / 2 + 100, box[1] + 40);
	await b.mouse('mouseReleased', box[0] + box[2] / 2 + 100, box[1] + 40);
	equal('a drag selects', await b.value('burstscope.timeline.selection?.[1] > burstscope.timeline.selection?.[0]'), true);
	equal('its address, too', await b.value("location.hash === document.querySelector('#selection .note a').getAttribute('href')"), true);

	await b.value("document.getElementById('query').value = 'thumbnails', document.getElementById('search').requestSubmit()");
	equal('found by its model', await b.value('burstscope.world.modelName(burstscope.world.executions.model_id.get(burstscope.timeline.picked))'), 'thumbnails');
	await b.value("document.getElementById('query').value = 'nothing like it', document.getElementById('search').requestSubmit()");
	equal('not found', await b.value("document.getElementById('found').textContent"), 'Nothing in this page is called nothing like it.');
	equal('a folded table', await b.value(`(() => { const body = document.querySelector('tbody.folded'), n = () => [...body.rows].filter((r) => r.offsetHeight).length, few = n();
		body.querySelector('button').click(); return n() > few && few === 13; })()`), true);
	equal('complaints of all that', b.complaints(), []);
}

/** A link to a section leads there, although the parts above it are drawn later; after the first action of a reader the page does not scroll. */
async function sections() {
	const counting = `const own = Element.prototype.scrollIntoView; globalThis.landed = 0; Element.prototype.scrollIntoView = function (...how) { landed++; own.apply(this, how); };`;
	const at = (mark, what) => `${counting} const mark = performance.mark.bind(performance); performance.mark = (...name) => { if (name[0] === '${mark}') ${what}; return mark(...name); };`;
	const frames = 'new Promise((resolve) => { let n = 4; const next = () => (n-- ? requestAnimationFrame(next) : resolve(landed)); next(); })';

	for (const [name, section] of [['camera', 'fairness'], ['compare', 'compare']]) {
		await open(name, { hash: `#${section}`, before: at('all-drawn', 'scrollTo(0, 0)') }); // as far from it as can be
		await b.value(frames);
		equal(`${name}: a link to ${section}`, await b.value(`Math.abs(document.getElementById('${section}').getBoundingClientRect().top) < 60`), true);
	}
	await open('camera', { hash: '#fairness', before: at('first-picture', "dispatchEvent(new Event('wheel'))") });
	equal('a reader who scrolls is left alone', await b.value(frames), 0);
}

/** Compares the page at three sizes and in two themes, which differ in colours alone. */
async function shapes() {
	const file = new URL('page.structure', import.meta.url), lines = [];

	for (const [width, height] of [[360, 640], [1280, 800], [3840, 2160]])
		for (const [dark, other] of [[false, null], [true, lines]]) {
			await open('camera', { width, height, dark });
			equal(`${width} wide: nothing sticks out`, await b.value('document.documentElement.scrollWidth <= innerWidth'), true);
			equal(`${width} wide: no table sticks out`, await b.value("[...document.querySelectorAll('.scroll')].filter((s) => s.offsetParent && s.scrollWidth > s.clientWidth + 1).map((s) => s.ariaLabel)"), []);
			equal(`${width} wide: each section is there`, await b.value("[...document.querySelectorAll('main > section:not([hidden])')].every((s) => s.offsetHeight > 30)"), true);
			await b.until("[...document.querySelectorAll('canvas')].every((c) => Math.abs(c.width - c.clientWidth * devicePixelRatio) <= 1)");
			equal(`${dark ? 'dark' : 'light'}: paper`, await b.value('getComputedStyle(document.body).backgroundColor'), dark ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)');
			equal(`${width} wide: lanes are drawn`, await b.value("(() => { const c = document.getElementById('lanes'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v); })()"), true);
			const is = (await b.value(structure)).map((line) => `${width}: ${line}`);

			if (other)
				equal(`${width} wide: the themes have one structure`, is, other.slice(-is.length));
			else
				lines.push(...is);
		}
	if (process.env.NNB_BLESS)
		writeFileSync(file, `${lines.join('\n')}\n`);
	equal('structure', lines, readFileSync(file, 'utf8').trimEnd().split('\n'));
	equal('a structure tells pages apart', await (async () => { await b.value('burstscope.timeline.show(0, 1e6); burstscope.timeline.draw()'); return JSON.stringify(await b.value(structure)) !== JSON.stringify(lines.slice(-lines.length / 3)); })(), true);
	for (const motion of ['reduce', 'no-preference']) {
		await open('camera', { motion });
		equal(`motion, ${motion}: scrolling`, await b.value('getComputedStyle(document.documentElement).scrollBehavior'), motion === 'reduce' ? 'auto' : 'smooth');
		equal(`motion, ${motion}: nothing is animated`, await b.value(`document.getAnimations().length + [...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);
			return s.animationName !== 'none' || s.transitionDuration !== '0s'; }).length`), 0);
	}
	const spoken = (await b.send('Accessibility.getFullAXTree')).nodes.filter((n) => !n.ignored), roles = new Set(spoken.map((n) => n.role?.value));

	for (const role of ['button', 'link', 'table', 'image', 'searchbox', 'columnheader', 'rowheader', 'region', 'application'])
		equal(`${role}: each has a name`, [roles.has(role), spoken.filter((n) => n.role?.value === role && !n.name?.value?.trim()).length], [true, 0]);
	equal('tables and figures have names', await b.value(`[...document.querySelectorAll('canvas')].every((c) => c.ariaLabel || c.getAttribute('aria-label')) &&
		[...document.querySelectorAll('table')].every((t) => t.caption?.textContent)`), true);
}

async function strangers() {
	await open('hostile');
	equal('no script of a stranger ran', await b.value('typeof taken'), 'undefined');
	equal('no element of a stranger', await b.value("document.querySelectorAll('img, main script, b').length"), 0);
	equal('a name is shown as it is', await b.value("document.body.textContent.includes('</script><script>')"), true);
	equal('nothing reorders the text', await b.value("[...document.querySelectorAll('td, li, h1, h3, p')].some((e) => /[\\u202e\\u001b]/.test(e.textContent))"), false);
	await open('camera', { before: 'delete globalThis.Worker' });
	equal('without workers, too', await b.value("typeof Worker + ' ' + burstscope.world.executions.n"), `undefined ${JSON.parse(readFileSync('camera.wanted', 'utf8')).executions.length}`);
	await open("it's");
	equal('a name with a quote, for a shell', await b.value("document.querySelector('#in-method code').textContent"), "burstscope misses --format json 'it'\\''s.db'");
	await open('clients');
	equal('one side alone', await b.value("document.querySelector('.headline').textContent.includes('not every verdict could be reached')"), true);
	await open('service');
	equal('the service alone', await b.value("document.getElementById('in-findings').textContent.length > 100 && burstscope.world.executions.n"), 7);
	await open('habit');
	equal('what was not recorded is said', await b.value("['#misses', '#fairness'].map((s) => [...document.querySelectorAll(s + ' p')].map((p) => p.textContent).filter((t) => /^(No |Nothing)/.test(t)))"),
		[['No missed deadline was recorded.'], ['Nothing was seen to wait for less urgent work of its app.', 'Nothing was seen to wait for too long.', 'No preemption was recorded.']]);
	await open('empty', { ready: "document.documentElement?.dataset.state === 'ready' || document.getElementById('status')?.className === 'bad'" });
	equal('an empty page is ready', await b.value('document.documentElement.dataset.state'), 'ready');
	await open('part');
	equal('the overview of a part has the lanes of all apps', await b.value('Object.entries(burstscope.overview).filter(([k]) => k.startsWith("held_")).flatMap(([, held]) => held).reduce((x, y) => x + y, 0)'),
		JSON.parse(readFileSync('part.held', 'utf8')).rows[0].held);
	equal('a part: its executions', await b.value('[...Array(burstscope.world.executions.n).keys()].map((i) => burstscope.world.executions.id.get(i))'), JSON.parse(readFileSync('part.wanted', 'utf8')).rows.map((row) => Number(row.id)).sort((x, y) => x - y));
	equal('a part: it says what is about all', await b.value("document.querySelector('#in-findings .trust').textContent.includes('these findings are about the whole recording')"), true);
	equal('a part: its first lines say which', await b.value("document.getElementById('subtitle').textContent.endsWith(`Drawn are the ${burstscope.world.executions.n} executions where app = 'camera', from 10.00 ms up to 40.00 ms.`)"), true);
	equal('a part: an execution that is not in it', await b.value("burstscope.world.absent('178', '', 'x.db')").then((text) => /^Execution 178 was recorded, but is not among the \d+ of 178 executions in this page: burstscope explain 178 'x.db'$/.test(text)), true);
	equal('a part: so does its headline', await b.value("/^In the whole recording: [a-z0-9]/.test(document.querySelector('#in-findings .headline').textContent)"), true);
	await open('many');
	equal('a part of many', await b.value('burstscope.overview.shown < burstscope.overview.all && burstscope.overview.stride > 1 && burstscope.world.executions.n === burstscope.overview.shown'), true);
	equal('an execution that many leaves out', await b.value("burstscope.world.absent('77777', '', 'many.db')"), "Execution 77777 is not in this page; if it was recorded: burstscope explain 77777 'many.db'");
	equal('every miss of many', await b.value('burstscope.world.missedInOrder().length'), await b.value('burstscope.overview.missed.reduce((a, b) => a + b, 0)'));
	equal('apps without a row of their own', await b.value('[burstscope.timeline.apps.length, /^\\d+ others$/.test(burstscope.timeline.apps[15].name), burstscope.overview.apps_all > 1e5, burstscope.world.apps.size < 1e5]'), [16, true, true, true]);
	await b.value('burstscope.timeline.select(0, burstscope.world.length)');
	equal('a part of many: what is said of a span', await b.value(`(() => { const [first, second, note] = document.querySelectorAll('#selection table, #selection > .note'), n = (text) => Number(text.replace(/\\D/g, ''));
		const [, here, all] = /; only ([\\d\u202f]+) of the (?:[\\d\u202f]+ to )?([\\d\u202f]+) executions that were submitted are here$/.exec(first.caption.firstChild.textContent) ?? [];
		const heads = (t) => [...t.querySelectorAll('th button')].map((b) => b.textContent).slice(-6);
		return [n(here) === [...first.tBodies[0].rows].reduce((sum, r) => sum + Number(r.cells[1]?.dataset.value ?? 0), 0), n(all) === burstscope.overview.all, heads(first), heads(second).slice(-5), note.textContent.startsWith('This page has ')]; })()`),
	[true, true, ['executions here', 'missed', 'answered here', 'p50 of these', 'p99 of these', 'lane of these'], ['executions here', 'missed', 'answered here', 'p50 of these', 'p99 of these'], true]);
	equal('a part of many: charts', await b.value("document.getElementById('latency-charts').lastChild.textContent.startsWith('Of the ')"), true);
	await othersAgree();
	equal('each app that the page refers to has a name', await b.value(`[...Array(burstscope.world.executions.n).keys()].every((i) => burstscope.world.appName(burstscope.world.executions.app_id.get(i)) !== 'unknown app')`), true);
	equal('a long table says where the rest is', await b.value("document.getElementById('fairness').textContent.includes(`The first 500 rows; all of them: burstscope fairness 'many.db'`)"), true);
	equal('it says which share', await b.value("document.getElementById('in-method').textContent.includes('one in ')"), true);
	await open('strange');
	equal('why there is no comparison', await b.value("document.getElementById('compare').textContent.includes('no app ran the same model')"), true);
	await open('checked');
	equal('figures of rules have their units', await b.value("[...document.querySelectorAll('#in-findings table')].filter((t) => t.caption.textContent.startsWith('Rules')).flatMap((t) => [[...t.tHead.rows[0].cells].map((c) => c.textContent).join(), ...[...t.tBodies[0].rows].map((r) => [...r.cells].slice(1, 4).map((c) => c.textContent).join())])"),
		['result,rule,measured,limit,executions judged,why', 'miss ratio <= 0 %,84 %,0 %', 'p50 e2e <= 1s,71.00 us,1.000 s', 'starvation none,0 waits,0']);
	equal('verdicts of rules come first', await b.value("[...document.querySelectorAll('#findings .verdict')].slice(0, 2).map((v) => v.classList[1])"), ['fail', 'pass']);
}

/** Two recordings side by side: each is as on its own page, and the two timelines move together. */
async function beside() {
	const [before, after] = ['before', 'after'].map((name) => JSON.parse(readFileSync(`${name}.wanted`, 'utf8')));
	const diff = JSON.parse(readFileSync('diff.wanted', 'utf8'));

	await open('compare');
	await packsAgree('compare: A', before);
	await packsAgree('compare: B', after, 'burstscope.comparison.b');
	equal('findings of both', await b.value("[...document.querySelectorAll('#compare .one')].slice(0, 2).map((one) => one.querySelectorAll('ol.found li, .cost > p:not(.facts, .note)').length)"), [before, after].map((w) => w.answers.summary.rows.length));
	equal('how far to trust both, as the commands say', await b.value("[...document.querySelectorAll('#compare .one .trust')].map((trust) => trust.textContent.replace(/^Trust: /, '').replace(/\\. [^.]* executions\\.$/, ''))"), ['before', 'after'].map((name) => readFileSync(`${name}.coverage`, 'utf8').trim()));
	equal('one colour for an app in both', await b.value(`(() => { const { a, b } = burstscope.comparison, name = (w, id) => w.apps.get(id);
		return [...b.world.place].every(([id, place]) => [...a.world.place].every(([other, at]) => (name(a.world, other) === name(b.world, id)) === (at === place))); })()`), true);
	equal('lane time of B in its overview', await b.value("burstscope.comparison.b.strip.overview.submitted.reduce((n, _, i) => n + burstscope.comparison.b.strip.heldIn(i).reduce((x, y) => x + y), 0)"), after.slices[0].held);
	answerAgrees('compare', diff, await b.value(tables));
	equal('rows of differences', await b.value(`(${tables}).find((t) => t.title === 'Differences').rows.length`), diff.rows.length);
	const known = diff.rows.filter((r) => r.low_percent || r.high_percent);
	equal('intervals that are drawn', await b.value("document.querySelector('figure.wide canvas').ariaLabel.split('; ').length"), Math.min(40, known.length));
	const worse = diff.rows.filter((r) => ['slower', r.measure === 'answers' ? 'fewer' : 'more'].includes(r.verdict)).length;
	const changed = diff.rows.filter((r) => ['slower', 'faster', 'more', 'fewer'].includes(r.verdict)).length;
	const same = diff.rows.filter((r) => r.verdict === 'not distinguishable').length, untested = diff.rows.filter((r) => r.verdict === 'too few' || r.verdict === 'only in B').length;
	equal('the first screen counts differences', await b.value("document.querySelector('#findings .trust').textContent.match(/Of (\\d+) figures, (\\d+) are worse in B, (\\d+) are better, (\\d+) are not distinguishable, (\\d+) could not be decided, and (\\d+) were not compared/).slice(1).map(Number)"),
		[diff.rows.length, worse, changed - worse, same, diff.rows.length - changed - same - untested, untested]);
	equal('some differ', changed > 0, true);
	equal('what changed comes first', await b.value("[document.querySelector('#in-compare').firstChild.textContent, [...document.querySelectorAll('#in-compare > h3 + ul > li')].length, document.querySelector('#findings .trust').textContent.includes(document.querySelector('#in-compare > h3 + ul > li').textContent)]"), ['What changed', changed, true]);
	equal('each change is named with what was before and after', await b.value("[...document.querySelectorAll('#in-compare > h3 + ul > li')].every((li) => /: [\\d.]+ (%|[num]?s) in A, [\\d.]+ (%|[num]?s) in B \\((better|worse)\\)$/.test(li.textContent))"), true);
	const [pair] = diff.parts.find((p) => p.name === 'groups').rows.filter((r) => r.cold === 'warm');
	equal('distributions of what both ran', await b.value(`[...document.querySelectorAll('#compare figcaption')].some((f) => f.textContent === '${pair.app}, ${pair.model}')`), true);
	const { a, b: other } = await b.value("(() => { const { a, b } = burstscope.comparison; b.timeline.show(1e6, 5e6); return { a: [a.timeline.from, a.timeline.to], b: [b.timeline.from, b.timeline.to] }; })()");
	equal('they move together', a, other);
	await b.value('burstscope.comparison.b.timeline.select(1e6, 4e6)');
	equal('a span of both', await b.value("burstscope.comparison.a.timeline.selection.join() === burstscope.comparison.b.timeline.selection.join() && document.querySelectorAll('#compare [aria-live] tbody tr').length > 0"), true);
	await b.value('burstscope.comparison.b.world.thinned = true; burstscope.comparison.b.timeline.select(1e6, 5e6)');
	equal('a span of both, where B is not whole', await b.value("(({ caption, tHead }) => [/; only \\d+ of the [\\d to]+ executions that were submitted in B are here$/.test(caption.firstChild.textContent), ...[...tHead.querySelectorAll('button')].map((head) => head.textContent)])(document.querySelector('#compare [aria-live] table'))"),
		[true, 'app', 'executions a', 'executions b here', 'missed a', 'missed b', 'p50 a', 'p50 b of these', 'p99 a', 'p99 b of these', 'lane a', 'lane b of these']);
	await b.value('burstscope.comparison.b.world.thinned = false');
	await b.value('burstscope.comparison.b.timeline.select(burstscope.comparison.b.world.length + 1e6, burstscope.comparison.b.world.length + 2e6)');
	equal('nothing is selected after the end of B', await b.value('burstscope.comparison.b.timeline.selection'), null);
	await b.value('burstscope.comparison.b.pick(0)');
	equal('an execution of B', await b.value("document.querySelectorAll('#compare article:not([hidden])').length"), 1);
	const id = await b.value('burstscope.comparison.b.world.executions.id.get(1)');
	await b.value('burstscope.comparison.b.pick(1)');
	equal('its address', await b.value('location.hash'), `#b-exec=${id}`);
	equal('its links stay in B', await b.value(`[...document.querySelectorAll('#compare article a')].every((a) => a.getAttribute('href').startsWith('#b-'))`), true);
	await open('compare', { hash: `#b-exec=${id}` });
	equal('an address shows an execution of B', await b.value("[burstscope.comparison.b.timeline.picked, burstscope.timeline.picked, document.querySelectorAll('#compare article:not([hidden])').length]"), [1, -1, 1]);
	await open('compare', { hash: '#b-t=1ms..3ms' });
	equal('an address shows a span of B', await b.value('[...burstscope.comparison.b.timeline.selection, burstscope.comparison.b.timeline.to]'), [1e6, 3e6, 3e6]);
	await open('compare', { hash: '#b-exec=99999999' });
	equal('an execution that B has not', await b.value("document.getElementById('found').textContent"), `There is no execution 99999999 of B: the last one is ${after.executions.length}.`);
	await open('compare', { hash: `#exec=${id}` });
	equal('an address without b- is of A', await b.value('[burstscope.timeline.picked >= 0, burstscope.comparison.b.timeline.picked]'), [true, -1]);
	equal('complaints of all that', b.complaints(), []);
}

/** A lane has its executions in the order of time, however far that is from the order of their ids: moved one by one, and sorted. */
async function disordered() {
	await open('camera');
	for (const [how, place] of [['in pairs', '(i ^ 1)'], ['backwards', '(n - i)']])
		equal(`lanes of executions that ran ${how}`, await b.value(`(() => {
			const { timeline: t, world: w } = burstscope, e = w.executions, n = e.n;
			const began = (i) => ${place} * 1e9, code = (v) => (v < 0 ? -2 * v : 2 * v + 1);
			e.dispatched.codes = Float64Array.from({ length: n }, (_, i) => code(began(i) - e.began.codes[i]));
			e.run_ended.codes = Float64Array.from({ length: n }, (_, i) => code(began(i) + 1000 + i - e.began.codes[i]));
			for (const [column, v] of [['lane', 1], ['instance', 1]])
				e[column].codes = new Uint8Array(n).fill(v);
			w.slices = { n: 0, ...Object.fromEntries(['instance', 'lane', 'execution_id', 'began', 'dur'].map((c) => [c, { codes: [], get: () => NaN }])) };
			t.ready();
			const [lane] = t.lanes;
			return [n > 100, t.lanes.length, lane.began.length === n, lane.began.every((at, k) => (k === 0 || lane.began[k - 1] < at) && at === began(lane.index[k])), lane.ended.every((at, k) => at === lane.began[k] + 1000 + lane.index[k])];
		})()`), [true, 1, true, true, true]);
}

/** The tests can fail: they find each fault that is planted in the page. */
async function spoilt() {
	const before = failures;

	await open('camera');
	await b.value("document.querySelector('#in-misses tbody td').dataset.value = 'other'; burstscope.world.executions.e2e_ns.codes[3] += 2");
	await b.value("console.error('planted'); fetch('http://127.0.0.1:9/').catch(() => 0)");
	const wanted = JSON.parse(readFileSync('camera.wanted', 'utf8')), say = console.log;

	console.log = () => {};
	await tablesAgree('spoilt', wanted);
	await packsAgree('spoilt', wanted);
	console.log = say;
	const noticed = failures - before;
	failures = before;
	equal('spoilt figures are noticed', noticed, 2);
	equal('a word on the console and a request are noticed', b.complaints().length >= 2, true);
}

if (process.argv[2] === 'dump') {
	dump(process.argv[3], process.argv[4]);
} else {
	try {
		for (const part of process.argv[4] ? [() => figures(process.argv.slice(4))] : [figures, hands, keys, sections, shapes, strangers, beside, disordered, spoilt])
			await part();
	} catch (why) {
		failures++;
		console.log(`page.mjs: ${why.stack}`);
	}
	await b.close();
	console.log(`page.mjs: ${looked} looked at, ${failures} wrong`);
	process.exitCode = failures ? 1 : 0;
}
