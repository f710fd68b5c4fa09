// charts.js -- distributions and courses over time, from the executions in the page.
import { colourOf, drawAxis, fit, ink, onOtherColours, placeOfPhase, stepOf } from './draw.js';
import { lowerBound, percentile, phases } from './data.js';
import { count, duration, shown, time } from './format.js';
import { keyOf, make, MOST_ROWS, tableOf } from './tables.js';

const MOST_GROUPS = 8, BINS = 120, WINDOWS = 100, HEIGHT = 220, LEFT = 80, BELOW = 22, ABOVE = 8, MOST_IN_MATRIX = 20, NO_APP = 'no app', OTHERS = '\u0000'; // no name of an app

/** @typedef {{name: string, place: number, sorted: Float64Array, index: Uint32Array, dashed?: boolean}} Group */

/** Answered executions by app, model and path, those with the most first. @param {any} world @returns {Group[]} */
export function groupsOf(world) {
	const { executions } = world;
	/** @type {Map<number, number[]>} */
	const lists = new Map();
	const apps = executions.app_id.codes, models = executions.model_id.codes, paths = executions.path_word.codes;

	for (let i = 0; i < executions.n; i++) {
		if (!world.answered(i))
			continue;
		const key = (apps[i] * 2 ** 22 + models[i]) * 64 + paths[i], list = lists.get(key);

		if (list)
			list.push(i);
		else
			lists.set(key, [i]);
	}
	return [...lists.values()].sort((a, b) => b.length - a.length).slice(0, MOST_GROUPS).map((list, place) => ({
		name: `${world.appName(executions.app_id.get(list[0]))}, ${world.modelName(executions.model_id.get(list[0]))} (${world.word(executions.path_word, list[0])})`, place,
		sorted: Float64Array.from(list, (i) => executions.e2e_ns.get(i)).sort(), index: Uint32Array.from(list) }));
}

/** @param {string} title @param {string} says for who does not see it @param {(canvas: HTMLCanvasElement) => void} draw */
export function figureOf(title, says, draw) {
	const canvas = /** @type {HTMLCanvasElement} */ (make('canvas', { role: 'img', 'aria-label': says }));
	const figure = make('figure', {}, make('figcaption', {}, title), canvas);

	new ResizeObserver(() => draw(canvas)).observe(canvas);
	onOtherColours(() => draw(canvas));
	return figure;
}

/** Axes of a chart whose x is a duration, by its logarithm. @param {any} at */
function logAxis(at) {
	const { context, from, to, x, width, bottom } = at;

	context.fillStyle = ink('faint');
	context.strokeStyle = ink('line');
	context.textAlign = 'center';
	context.textBaseline = 'alphabetic';
	context.beginPath();
	for (let power = Math.ceil(from); power <= to; power++) {
		const px = x + (power - from) / (to - from) * width;

		context.moveTo(px, ABOVE);
		context.lineTo(px, bottom);
		const text = duration(10 ** power).replace('.000', ''), half = context.measureText(text).width / 2;

		context.fillText(text, Math.min(px, x + width + 8 - half), bottom + 15);
	}
	context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {string} top @param {number} bottom */
function heightAxis(context, top, bottom) {
	context.fillStyle = ink('faint');
	context.textAlign = 'right';
	context.textBaseline = 'middle';
	context.fillText(top, LEFT - 6, ABOVE + 6);
	context.fillText('0', LEFT - 6, bottom);
}

/** @param {Group[]} groups @returns {[number, number]} logarithms of the shortest and the longest */
function rangeOf(groups) {
	const least = Math.min(...groups.map((g) => g.sorted[0])), most = Math.max(...groups.map((g) => g.sorted[g.sorted.length - 1]));

	return [Math.log10(Math.max(1, least)) - 0.05, Math.log10(Math.max(2, most)) + 0.05];
}

/** @param {HTMLCanvasElement} canvas @param {Group[]} groups @param {boolean} summed a share of all up to here, instead of how many are here */
export function drawDistribution(canvas, groups, summed) {
	const { context, width, height } = fit(canvas, HEIGHT), bottom = height - BELOW, room = width - LEFT - 8;
	const [from, to] = rangeOf(groups), edges = Array.from({ length: BINS + 1 }, (_, i) => 10 ** (from + (to - from) * i / BINS));
	const series = groups.map((g) => edges.slice(1).map((edge, i) => (lowerBound(g.sorted, edge) - (summed ? 0 : lowerBound(g.sorted, edges[i]))) / g.sorted.length));
	const most = summed ? 1 : Math.max(...series.flat());

	logAxis({ context, from, to, x: LEFT, width: room, bottom });
	heightAxis(context, `${(100 * most).toFixed(most < 0.1 ? 1 : 0)} %`, bottom);
	context.lineWidth = 1.6;
	for (const [g, values] of series.entries()) {
		context.strokeStyle = colourOf(groups[g].place);
		context.setLineDash(groups[g].dashed ? [5, 3] : []);
		context.beginPath();
		for (const [i, value] of values.entries())
			context.lineTo(LEFT + (i + (summed ? 1 : 0.5)) / BINS * room, bottom - value / most * (bottom - ABOVE));
		context.stroke();
	}
	context.setLineDash([]);
	context.lineWidth = 1;
}

/** The 99th percentile in each window of the recording. @param {HTMLCanvasElement} canvas @param {Group[]} groups @param {any} world */
function drawCourse(canvas, groups, world) {
	const { context, width, height } = fit(canvas, HEIGHT), bottom = height - BELOW, room = width - LEFT - 8;
	const series = groups.map((g) => coursesOf(g, world)), most = Math.max(1, ...series.flat().filter(Number.isFinite));

	drawAxis(context, { from: 0, to: world.length, x: LEFT, width: room, y: bottom + 2, bottom });
	heightAxis(context, duration(most), bottom);
	context.lineWidth = 1.6;
	for (const [g, values] of series.entries()) {
		context.strokeStyle = colourOf(groups[g].place);
		context.beginPath();
		for (const [i, value] of values.entries())
			if (Number.isFinite(value))
				context.lineTo(LEFT + (i + 0.5) / WINDOWS * room, bottom - value / most * (bottom - ABOVE));
		context.stroke();
	}
	context.lineWidth = 1;
}

/** @param {Group} group @param {any} world */
function coursesOf(group, world) {
	/** @type {number[][]} */
	const windows = Array.from({ length: WINDOWS }, () => []);

	for (const i of group.index)
		windows[Math.max(0, Math.min(WINDOWS - 1, Math.floor(world.executions.began.get(i) / world.length * WINDOWS)))].push(world.executions.e2e_ns.get(i));
	return windows.map((list) => percentile(Float64Array.from(list).sort(), 99));
}

/** Means of the phases of each group, one upon the other. @param {HTMLCanvasElement} canvas @param {Group[]} groups @param {any} world */
function drawPhases(canvas, groups, world) {
	const each = 30, { context, width } = fit(canvas, groups.length * each + 30), means = groups.map((g) => meansOf(g, world));
	const most = Math.max(1, ...means.map((m) => m.reduce((a, b) => a + b, 0))), room = width - 8;

	for (const [g, values] of means.entries()) {
		let x = 0;

		context.fillStyle = ink('ink');
		context.textAlign = 'left';
		context.textBaseline = 'alphabetic';
		context.fillText(groups[g].name.slice(0, 80), 0, g * each + 11);
		for (const [p, ns] of values.entries()) {
			context.fillStyle = colourOf(placeOfPhase(p));
			context.fillRect(x, g * each + 14, ns / most * room, 12);
			x += ns / most * room;
		}
	}
	const step = stepOf(0, most, width / 120);

	context.fillStyle = ink('faint');
	for (let ns = 0; ns <= most; ns += step) {
		const text = ns ? duration(ns).replace('.000', '') : '0';

		context.fillText(text, Math.min(ns / most * room, width - context.measureText(text).width), groups.length * each + 16);
	}
}

/** @param {Group} group @param {any} world */
function meansOf(group, world) {
	const columns = phases.map((p) => world.executions[`${p}_ns`]);

	return columns.map((column) => {
		let sum = 0;

		for (const i of group.index)
			sum += column.get(i) || 0;
		return sum / group.index.length;
	});
}

/** @param {HTMLElement} place @param {any} world */
export function drawLatency(place, world) {
	const groups = groupsOf(world);

	if (!groups.length)
		return;
	const percentiles = groups.map((g) => `${g.name}: half take at most ${duration(percentile(g.sorted, 50))}, 99 % ${duration(percentile(g.sorted, 99))}`).join('; ');

	place.append(keyOf(groups), make('div', { class: 'charts' },
		figureOf('How many took how long (end to end)', `Distributions. ${percentiles}`, (c) => drawDistribution(c, groups, false)),
		figureOf('Share that took at most so long', `Cumulative distributions. ${percentiles}`, (c) => drawDistribution(c, groups, true)),
		figureOf('99th percentile over time', `99th percentiles in ${WINDOWS} windows. ${percentiles}`, (c) => drawCourse(c, groups, world)),
		figureOf('Mean time in each phase', 'Phases stacked; the table below has their percentiles', (c) => drawPhases(c, groups, world))),
	keyOf(phases.map((name, i) => ({ name, place: placeOfPhase(i) }))));
	if (world.thinned)
		place.append(make('p', { class: 'note' }, `${world.part()} The table below is of all.`));
}

/** How far each app was behind its share, window by window. @param {HTMLCanvasElement} canvas @param {any} world @param {number[]} apps */
function drawLags(canvas, world, apps) {
	const { context, width, height } = fit(canvas, HEIGHT), bottom = height - BELOW, room = width - LEFT - 8, { lags } = world;
	const rows = Array.from({ length: lags.n }, (_, i) => ({ at: lags.began.get(i), app: lags.app_id.get(i), lag: lags.lag_ns.get(i) }));
	const most = Math.max(1, ...rows.map((r) => (apps.includes(r.app) && Number.isFinite(r.lag) ? r.lag : 0)));

	drawAxis(context, { from: 0, to: world.length, x: LEFT, width: room, y: bottom + 2, bottom });
	heightAxis(context, duration(most), bottom);
	context.lineWidth = 1.6;
	for (const app of apps) {
		context.strokeStyle = colourOf(world.placeOf(app));
		context.beginPath();
		for (const r of rows)
			if (r.app === app && Number.isFinite(r.lag))
				context.lineTo(LEFT + (r.at + 5e7) / world.length * room, bottom - Math.max(0, r.lag) / most * (bottom - ABOVE));
		context.stroke();
	}
	context.lineWidth = 1;
}

/** @param {HTMLElement} place @param {any} world */
export function drawFairness(place, world) {
	const apps = [...new Set(Array.from({ length: world.lags?.n ?? 0 }, (_, i) => world.lags.app_id.get(i)))].slice(0, MOST_GROUPS);

	if (apps.length)
		place.append(keyOf(apps.map((app) => ({ name: world.appName(app), place: world.placeOf(app) }))),
			make('div', { class: 'charts' }, figureOf('How far behind its share each app was, by windows of 100 ms', 'The table below has the most of each app', (c) => drawLags(c, world, apps))));
}

/** How many deadlines of each app have their primary cause in which app; apps by their ids, as text, and none as ''. @param {any} world */
function primaryCauses(world) {
	const { causes, executions } = world;
	/** @type {Map<string, Map<string, number>>} by whose they were and by whom */
	const misses = new Map();

	for (let i = 0; i < causes.n; i++) {
		const index = causes.is_primary.get(i) ? world.indexOf(causes.execution_id.get(i)) : -1;

		if (index < 0)
			continue;
		const app = String(executions.app_id.get(index)), by = causes.culprit_app_id.codes[i] ? String(causes.culprit_app_id.get(i)) : '';
		const row = misses.get(app) ?? new Map();

		row.set(by, (row.get(by) ?? 0) + 1);
		misses.set(app, row);
	}
	return misses;
}

/** Those with the most first. @param {Iterable<[string, number]>} pairs */
function largestOf(pairs) {
	return [...pairs].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, MOST_IN_MATRIX).map(([app]) => app);
}

/** The same with one row and one column for all that are not in @rows and @columns. @param {Map<string, Map<string, number>>} values @param {string[]} rows @param {string[]} columns */
function groupedBy(values, rows, columns) {
	const inRows = new Set(rows), inColumns = new Set(columns), all = new Map();

	for (const [row, cells] of values)
		for (const [column, n] of cells) {
			const r = inRows.has(row) ? row : OTHERS, c = inColumns.has(column) ? column : OTHERS, line = all.get(r) ?? new Map();

			line.set(c, (line.get(c) ?? 0) + n);
			all.set(r, line);
		}
	return all;
}

/**
 * A table of apps by apps, the darker the more: of those with the most, and the sum of the others.
 * @param {string} title @param {string} kind a class of its own @param {Map<string, Map<string, number>>} values by row and column
 * @param {(app: string) => string} nameOf @param {(n: number) => string} textOf @returns {HTMLElement}
 */
function matrixOf(title, kind, values, nameOf, textOf) {
	const sums = [new Map(), new Map()];

	for (const [row, cells] of values)
		for (const [column, n] of cells)
			[row, column].forEach((app, i) => sums[i].set(app, (sums[i].get(app) ?? 0) + n));
	const [rows, columns] = sums.map(largestOf), grouped = groupedBy(values, rows, columns), valueOf = (/** @type {string} */ row, /** @type {string} */ column) => grouped.get(row)?.get(column) ?? 0;
	const left = [sums[0].size - rows.length, sums[1].size - columns.length];

	[rows, columns].forEach((names, i) => { if (left[i]) names.push(OTHERS); });
	const headOf = (/** @type {string} */ app, /** @type {number} */ n) => (app === OTHERS ? `${count(n)} others` : nameOf(app));
	const most = Math.max(1, ...rows.flatMap((row) => columns.map((column) => valueOf(row, column))));
	const cellOf = (/** @type {number} */ n) => {
		const cell = make('td', { class: 'number' }, n ? textOf(n) : '');

		cell.style.background = `color-mix(in srgb, var(--bad) ${Math.round(45 * n / most)}%, var(--paper))`;
		cell.dataset.value = String(n);
		return cell;
	};
	const lines = rows.map((row) => make('tr', {}, make('th', { scope: 'row' }, headOf(row, left[0])), ...columns.map((column) => cellOf(valueOf(row, column)))));
	return make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title },
		make('table', { class: `matrix ${kind}` }, make('caption', {}, title),
			make('thead', {}, make('tr', {}, make('td', {}), ...columns.map((column) => make('th', { scope: 'col', class: 'number' }, headOf(column, left[1]))))), make('tbody', {}, ...lines)));
}

/** Victims by culprits. @param {any} world */
export function missesMatrix(world) {
	return matrixOf('Missed deadlines by their primary cause: whose they were (rows), and whose doing (columns)', 'misses', primaryCauses(world),
		(app) => (app ? world.appName(Number(app)) : NO_APP), (n) => count(n));
}

/** Who waited (rows), and who had the lane meanwhile (columns): from the answer of burstscope fairness. @param {any} answer */
export function interferenceMatrix(answer) {
	/** @type {Map<string, Map<string, number>>} */
	const waits = new Map();

	const rows = answer?.parts?.find((/** @type {any} */ part) => part.name === 'interference')?.rows ?? [], some = rows.length === MOST_ROWS ? `; the ${MOST_ROWS} longest` : '';

	for (const { app, waited_for: by, waited_ns: ns } of rows) {
		const row = waits.get(app ?? '') ?? new Map();

		row.set(by ?? '', (row.get(by ?? '') ?? 0) + ns);
		waits.set(app ?? '', row);
	}
	return waits.size ? matrixOf(`How long each app (rows) waited while which app (columns) had the lane${some}`, 'interference', waits, (app) => (app ? shown(app) : NO_APP), duration) : null;
}

/** Of whose deadlines were missed, and by whom: from the answer of burstscope misses. @param {any} world @param {number} most */
export function worstOf(world, most) {
	const { executions } = world, late = (/** @type {number} */ i) => executions.lateness_ns.get(i);
	const passed = (/** @type {number} */ i) => executions.submitted_late.get(i); // these are last, as burstscope misses has them
	const rows = world.missedInOrder().filter((/** @type {number} */ i) => Number.isFinite(late(i))).sort((/** @type {number} */ a, /** @type {number} */ b) => passed(a) - passed(b) || late(b) - late(a) || executions.id.get(a) - executions.id.get(b)).slice(0, most)
		.map((/** @type {number} */ i) => ({ id: executions.id.get(i), app: world.appName(executions.app_id.get(i)), model: world.modelName(executions.model_id.get(i)),
			miss: world.word(executions.miss_word, i), late_ns: late(i), cause: world.causeOf(executions.id.get(i)), began: time(executions.began.get(i)) }));

	return rows.length ? tableOf('The most late ones, each a link into the timeline', [{ name: 'id', class: 'id' }, { name: 'app', class: 'text' }, { name: 'model', class: 'text' },
		{ name: 'miss', class: 'label' }, { name: 'late_ns', class: 'duration' }, { name: 'cause', class: 'label' }, { name: 'began', class: 'text' }], rows) : null;
}
