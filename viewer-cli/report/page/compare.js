// compare.js -- two recordings beside each other: what was found in each, their timelines, which move together, distributions of what both ran,
// and differences with their intervals, as burstscope diff answers.
import { drawDistribution, figureOf } from './charts.js';
import { fit, ink, onOtherColours, places } from './draw.js';
import { countHereOf, executionsIn, markedIn, selectionOf, showExecution } from './execution.js';
import { fillFindings } from './findings.js';
import { duration, scaled, shown, time } from './format.js';
import { jsonOf, percentile } from './data.js';
import { fill, make, tableOf } from './tables.js';
import { heldBy, spanIntoAddress, Strip, Timeline } from './timeline.js';
import { World } from './world.js';

const MOST_PAIRS = 8, MOST_DIFFERENCES = 40, DIFFERENCE = 20, NAMES = 300;

/** The second recording's overview with each app at the place that the app of its name has in the first one, so that both show it in one colour. @param {any} first @param {any} second */
function inColoursOf(first, second) {
	const nameOf = new Map(second.apps), ids = new Map(first.apps.map((/** @type {[number, string]} */ [id, name]) => [name, first.busiest.indexOf(id)]));
	const taken = new Set(first.busiest.keys()), moved = new Map(), place = new Map();

	for (const [at, id] of second.busiest.entries()) {
		const same = ids.get(nameOf.get(id)) ?? -1, free = Array.from({ length: places }, (_, i) => i).find((i) => !taken.has(i)) ?? places;
		const to = same >= 0 && ![...moved.values()].includes(same) ? same : free;

		taken.add(to);
		moved.set(at, to);
		place.set(id, to);
	}
	const overview = { ...second };

	for (let at = 0; at <= places; at++)
		overview[`held_${at}`] = second.submitted.map(() => 0);
	for (let at = 0; at <= places; at++) {
		const to = overview[`held_${moved.get(at) ?? places}`];

		second[`held_${at}`]?.forEach((/** @type {number} */ ns, /** @type {number} */ bin) => { to[bin] += ns; });
	}
	return { overview, place };
}

/** One of the two: its name, findings, strip and timeline. */
class Side {
	/** @param {string} letter @param {string} database @param {string} coverage @param {any} world @param {any} overview @param {any} summary @param {Comparison} comparison */
	constructor(letter, database, coverage, world, overview, summary, comparison) {
		const strip = /** @type {HTMLCanvasElement} */ (make('canvas', { class: 'strip', role: 'img', 'aria-label': `Overview of all of ${letter}` }));
		const lanes = /** @type {HTMLCanvasElement} */ (make('canvas', { class: 'lanes', role: 'application', tabindex: '0', 'aria-label': `Timeline of ${letter}. Keys as above; both timelines move together.` }));
		const tip = make('div', { class: 'tip', hidden: '' }), name = `${letter}: ${shown(database)}`;

		this.letter = letter;
		this.database = database;
		this.world = world;
		this.panel = make('article', { hidden: '', 'aria-live': 'polite' });
		this.found = make('div', { class: 'one' }, make('h3', {}, name));
		this.view = make('div', { class: 'one' }, make('h3', {}, name), strip, make('div', { class: 'over' }, lanes, tip));
		fillFindings(this.found, summary, { coverage, part: false }, this.prefix());
		this.strip = new Strip(strip, overview, (at) => this.timeline.show(at - (this.timeline.to - this.timeline.from) / 2, at + (this.timeline.to - this.timeline.from) / 2));
		this.timeline = new Timeline(lanes, tip, world, { changed: () => comparison.moved(this), selected: () => comparison.selected(this), chosen: () => spanIntoAddress(this.timeline, this.prefix()), picked: (index) => this.pick(index) });
		new ResizeObserver(() => { this.timeline.soon(); this.draw(); }).observe(strip);
		onOtherColours(() => { this.timeline.soon(); this.draw(); });
	}

	draw() {
		this.strip.draw(this.timeline.from, this.timeline.to);
	}

	/** What comes before exec and t in links into this one. */
	prefix() {
		return this.letter === 'A' ? '' : `${this.letter.toLowerCase()}-`;
	}

	/** @param {number} index @param {boolean} link */
	pick(index, link = true) {
		const { executions } = this.world;

		this.timeline.pick(index);
		showExecution(this.panel, this.world, this.timeline.lanes, index, this.database);
		this.panel.prepend(make('p', { class: 'note' }, `Of ${this.letter}:`));
		for (const anchor of this.panel.querySelectorAll('a[href^="#exec="], a[href^="#t="]'))
			anchor.setAttribute('href', `#${this.prefix()}${anchor.getAttribute('href')?.slice(1)}`);
		if (link)
			history.replaceState(null, '', `#${this.prefix()}exec=${executions.id.get(index)}`);
	}
}

/** "camera, mobilenet": of each of the groups the executions that were answered. @param {any} world */
function answeredByName(world) {
	const { executions } = world;
	/** @type {Map<string, number[]>} */
	const lists = new Map();

	for (let i = 0; i < executions.n; i++) {
		if (!world.answered(i))
			continue;
		const name = `${world.appName(executions.app_id.get(i))}, ${world.modelName(executions.model_id.get(i))}`, list = lists.get(name);

		if (list)
			list.push(executions.e2e_ns.get(i));
		else
			lists.set(name, [executions.e2e_ns.get(i)]);
	}
	return lists;
}

/** Distributions of what both ran, one upon the other; null: there is nothing of the kind. @param {any} a @param {any} b worlds @returns {HTMLElement | null} */
function distributionsOf(a, b) {
	const inA = answeredByName(a), inB = answeredByName(b), charts = make('div', { class: 'charts' });
	const both = [...inA.keys()].filter((name) => inB.has(name)).sort((x, y) => (inA.get(y)?.length ?? 0) - (inA.get(x)?.length ?? 0)).slice(0, MOST_PAIRS);

	for (const name of both) {
		const groups = [['A', inA.get(name) ?? []], ['B', inB.get(name) ?? []]].map(([letter, list], place) => ({ name: String(letter), place, dashed: place > 0,
			sorted: Float64Array.from(/** @type {number[]} */ (list)).sort(), index: new Uint32Array(0) }));
		const says = groups.map((g) => `${g.name}: p50 ${duration(percentile(g.sorted, 50))}, p99 ${duration(percentile(g.sorted, 99))} (${g.sorted.length})`).join('; ');
		const figure = figureOf(name, `Shares of executions that took at most so long. ${says}`, (c) => drawDistribution(c, groups, true));

		figure.append(make('p', { class: 'note' }, says));
		charts.append(figure);
	}
	return both.length ? charts : null;
}

/** 1: B is worse, -1: B is better, 0: no change was shown, or it cannot be told. @param {any} row of burstscope diff */
export function changeOf(row) {
	const bad = row.measure === 'answers' ? 'fewer' : 'more';

	if (row.verdict === 'slower' || row.verdict === bad)
		return 1;
	return ['faster', 'more', 'fewer'].includes(row.verdict) ? -1 : 0;
}

/** How many figures became what, by the same count as the headline of burstscope diff. @param {any[]} rows of burstscope diff */
export function differencesIn(rows) {
	const of = (/** @type {(row: any) => boolean} */ is) => rows.filter(is).length, worse = of((row) => changeOf(row) > 0), better = of((row) => changeOf(row) < 0);
	const same = of((row) => row.verdict === 'not distinguishable'), untested = of((row) => ['too few', 'only in B'].includes(row.verdict));

	return { worse, better, same, untested, unsure: rows.length - worse - better - same - untested };
}

/** @param {any} row */
function nameOfDifference(row) {
	return [[row.app, row.model].filter(Boolean).join('/'), row.path, row.cold, row.measure].filter(Boolean).map((text) => shown(String(text))).join(' ');
}

/** What a figure was in A and is in B. @param {any} row */
function bothOf(row) {
	const [a, b] = [[row.a_ns, row.a_percent], [row.b_ns, row.b_percent]].map(([ns, percent]) => (typeof ns === 'number' ? duration(ns) : typeof percent === 'number' ? `${scaled(percent, { unit: '', of: 1, decimals: 1 })} %` : '-'));

	return `${a} in A, ${b} in B`;
}

/** What changed, in a line each: outcomes before times, and of each the largest change first. @param {any[]} rows of burstscope diff @returns {string[]} */
export function changesIn(rows) {
	const isTime = (/** @type {any} */ row) => Number(typeof row.a_ns === 'number'), size = (/** @type {any} */ row) => Math.abs(row.by_percent ?? 0);

	return rows.filter((row) => changeOf(row)).sort((x, y) => isTime(x) - isTime(y) || size(y) - size(x)).map((row) => `${nameOfDifference(row)}: ${bothOf(row)} (${changeOf(row) > 0 ? 'worse' : 'better'})`);
}

/** Each difference as a point on its interval, in percent; the line is no difference. @param {HTMLCanvasElement} canvas @param {any[]} rows */
function drawDifferences(canvas, rows) {
	const { context, width, height } = fit(canvas, rows.length * DIFFERENCE + 24), left = Math.min(NAMES, width / 2), room = width - left - 16;
	const sizes = rows.flatMap((row) => [row.by_percent, row.low_percent, row.high_percent]), most = Math.min(300, Math.max(5, ...sizes.map(Math.abs)) * 1.05);
	const xOf = (/** @type {number} */ percent) => left + (Math.max(-most, Math.min(most, percent)) + most) / (2 * most) * room;

	context.textBaseline = 'middle';
	context.strokeStyle = ink('line');
	context.strokeRect(xOf(0), 0, 0.01, height - 20);
	for (const [i, row] of rows.entries()) {
		const y = i * DIFFERENCE + DIFFERENCE / 2;

		context.fillStyle = ink('ink');
		context.textAlign = 'left';
		context.fillText(nameOfDifference(row), 0, y, left - 8);
		context.fillStyle = context.strokeStyle = ink(['good', 'faint', 'bad'][1 + changeOf(row)]);
		context.fillRect(xOf(row.low_percent), y - 1, Math.max(1, xOf(row.high_percent) - xOf(row.low_percent)), 2);
		context.beginPath();
		context.arc(xOf(row.by_percent), y, 4, 0, 7);
		context.fill();
		if (row.low_percent < -most)
			context.fillText('‹', xOf(-most) - 6, y);
		if (row.high_percent > most)
			context.fillText('›', xOf(most) + 1, y);
	}
	context.fillStyle = ink('faint');
	for (const percent of [-most, 0, most]) {
		context.textAlign = percent < 0 ? 'left' : percent > 0 ? 'right' : 'center';
		context.fillText(`${percent > 0 ? '+' : ''}${scaled(percent, { unit: '', of: 1, decimals: 0 })} %`, xOf(percent), height - 9);
	}
}

/** @param {any} diff an answer @returns {HTMLElement | null} */
function differencesOf(diff) {
	const known = (diff.rows ?? []).filter((/** @type {any} */ row) => [row.by_percent, row.low_percent, row.high_percent].every((v) => typeof v === 'number') && (row.low_percent || row.high_percent));
	const rows = known.sort((/** @type {any} */ x, /** @type {any} */ y) => Math.abs(changeOf(y)) - Math.abs(changeOf(x))).slice(0, MOST_DIFFERENCES);

	if (!rows.length)
		return null;
	const says = rows.map((/** @type {any} */ row) => `${nameOfDifference(row)}: ${row.verdict}, by ${row.by_percent.toFixed(1)} % (${row.low_percent.toFixed(1)} to ${row.high_percent.toFixed(1)})`).join('; ');
	const figure = figureOf('Differences, B against A: a point on its interval', says, (c) => drawDifferences(c, rows));

	figure.className = 'wide';
	return figure;
}

const columnsOfBoth = [{ name: 'app', class: 'text' }, ...['n_executions', 'n_missed'].flatMap((name) => [{ name: `${name}_a`, class: 'count' }, { name: `${name}_b`, class: 'count' }]),
	...['p50', 'p99'].flatMap((name) => [{ name: `${name}_a_ns`, class: 'duration' }, { name: `${name}_b_ns`, class: 'duration' }]), { name: 'lane_a_percent', class: 'percent' }, { name: 'lane_b_percent', class: 'percent' }];

/** The same span of both, an app a row. @param {Side} a @param {Side} b @param {number} from @param {number} to */
function selectedInBoth(a, b, from, to) {
	/** @type {Map<string, any>} */
	const rows = new Map(), parts = [];
	let columns = columnsOfBoth;

	for (const [side, letter] of /** @type {[Side, string][]} */ ([[a, 'a'], [b, 'b']])) {
		const selected = selectionOf(side.world, side.timeline.apps, side.timeline.lanes, from, to, { heldBy, percentile });

		for (const row of selected)
			rows.set(row.app, { app: row.app, ...rows.get(row.app), [`n_executions_${letter}`]: row.n_executions, [`n_missed_${letter}`]: row.n_missed, [`p50_${letter}_ns`]: row.p50_ns,
				[`p99_${letter}_ns`]: row.p99_ns, [`lane_${letter}_percent`]: row.lane_percent });
		if (side.world.thinned)
			parts.push(`${countHereOf(side.world, executionsIn(selected), from, to)} in ${side.letter}`);
		columns = columns.flatMap((c) => (c.name.includes(`_${letter}`) ? markedIn(side.world, [c]) : [c]));
	}
	return tableOf(`From ${time(from)} to ${time(to)} in both: what was submitted${parts.length ? `; only ${parts.join(', and ')} are here` : ''}`, columns, [...rows.values()]);
}

export class Comparison {
	/** @param {HTMLElement} place @param {any} about @param {any} overview @param {any} world of the first one @param {Record<string, any>} answers */
	constructor(place, about, overview, world, answers) {
		const { overview: second, place: colours } = inColoursOf(overview, jsonOf('overview2'));

		this.world = /** @type {any} */ (new World(second));
		this.world.place = colours;
		this.first = world;
		this.charts = make('div');
		this.differences = make('div');
		this.selection = make('div', { 'aria-live': 'polite' });
		this.together = /** @type {HTMLInputElement} */ (make('input', { type: 'checkbox', checked: '' }));
		this.moving = false;
		this.a = new Side('A', about.database, about.coverage, world, overview, answers.summary ?? {}, this);
		this.b = new Side('B', about.other, about.other_coverage, this.world, second, answers.other ?? {}, this);
		this.sides = [this.a, this.b];
		const changes = changesIn(answers.diff?.rows ?? []);

		if (changes.length)
			place.append(make('h3', {}, 'What changed'), make('ul', {}, ...changes.slice(0, MOST_DIFFERENCES).map((change) => make('li', {}, change))));
		place.append(this.differences, make('div', { class: 'sides' }, ...this.sides.map((side) => side.found)), make('div', { class: 'sides' }, ...this.sides.map((side) => side.view)), make('label', { class: 'note' }, this.together, ' both move together'),
			this.selection, this.a.panel, this.b.panel, this.charts);
		fill(place, answers.diff, 'Differences');
		this.diff = answers.diff ?? {};
	}

	/** The executions of both are there; those of the first in @timeline. @param {Timeline} timeline @param {Record<string, any>} packs @param {string[]} labels */
	ready(timeline, packs, labels) {
		this.world.take(packs, labels);
		this.b.timeline.ready();
		this.a.timeline.lanes = timeline.lanes;
		this.a.timeline.apps = timeline.apps;
		const rows = new Map(timeline.apps.map((app, row) => [app.name, row]));

		this.b.timeline.apps.sort((x, y) => (rows.get(x.name) ?? rows.size) - (rows.get(y.name) ?? rows.size));
		for (const side of this.sides) {
			side.timeline.draw();
			side.draw();
		}
		const differences = differencesOf(this.diff);

		if (differences)
			this.differences.append(differences);
		const distributions = distributionsOf(this.first, this.world);

		if (distributions)
			this.charts.append(make('h3', {}, 'Latency of what both ran: the share of executions that took at most so long; A a line, B dashed'), distributions,
				...this.sides.flatMap(({ letter, world }) => (world.thinned ? [make('p', { class: 'note' }, `${letter}: ${world.part()}`)] : [])));
	}

	/** What an address asks for that begins with b-. @param {string} what exec or t @param {string} value @returns {string} what there is to say of it */
	follow(what, value) {
		const { b } = this, index = what === 'exec' ? this.world.indexOf(Number(value)) : -1;

		const said = what === 't' ? b.timeline.showSpan(value) : index >= 0 ? '' : this.world.absent(value, ' of B', b.database);

		if (index >= 0)
			b.pick(index, false);
		b.view.scrollIntoView();
		b.timeline.canvas.focus({ preventScroll: true });
		return said;
	}

	/** @param {Side} side that was moved */
	moved(side) {
		const other = side === this.a ? this.b : this.a;

		side.draw();
		if (this.moving || !this.together.checked)
			return;
		this.moving = true;
		other.timeline.show(side.timeline.from, side.timeline.to);
		this.moving = false;
	}

	/** @param {Side} side in which a span was selected */
	selected(side) {
		const other = side === this.a ? this.b : this.a, { selection } = side.timeline;

		if (this.moving)
			return;
		this.moving = true;
		other.timeline.select(selection?.[0] ?? 0, selection?.[1] ?? 0);
		this.moving = false;
		this.selection.replaceChildren(...(selection ? [selectedInBoth(this.a, this.b, selection[0], selection[1])] : []));
	}
}
