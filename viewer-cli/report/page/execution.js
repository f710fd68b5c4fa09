// execution.js -- one execution: its phases to scale, who held the lanes while it waited, and why its deadline was missed.
import { placeOfPhase, places, swatchOf } from './draw.js';
import { count, duration, noShorter, quoted, said, time } from './format.js';
import { lowerBound, phases } from './data.js';
import { copyButton, keyOf, make, tableOf } from './tables.js';

const MOST_MODELS = 100;

/** @param {any} world @param {number} index @returns {{phase: string, ns: number, place: number}[]} */
function phasesOf(world, index) {
	return phases.map((phase, i) => ({ phase, ns: world.executions[`${phase}_ns`].get(index), place: placeOfPhase(i) })).filter((p) => Number.isFinite(p.ns) && p.ns > 0);
}

/** @param {{phase: string, ns: number, place: number}[]} parts */
function barOf(parts) {
	const all = parts.reduce((sum, p) => sum + p.ns, 0);
	const bar = make('div', { role: 'img', 'aria-label': parts.map((p) => `${p.phase} ${duration(p.ns)}`).join(', ') });

	bar.style.display = 'flex';
	bar.style.height = '22px';
	for (const part of parts) {
		const piece = make('span', { title: `${part.phase} ${duration(part.ns)}` });

		piece.style.flex = `${part.ns / all} 0 1px`;
		piece.style.background = swatchOf(part.place);
		bar.append(piece);
	}
	return bar;
}

/** Who held lanes between @from and @to, longest first. @param {any} world @param {any[]} lanes @param {number} from @param {number} to */
function holdersOf(world, lanes, from, to) {
	/** @type {any[]} */
	const rows = [];

	for (const lane of lanes)
		for (let i = lowerBound(lane.ended, from); i < lane.began.length && lane.began[i] < to; i++) {
			const ns = Math.min(to, lane.ended[i]) - Math.max(from, lane.began[i]), index = lane.index[i];

			if (ns > 0 && index >= 0)
				rows.push({ lane: lane.name, app: world.appName(world.executions.app_id.get(index)), model: world.modelName(world.executions.model_id.get(index)),
					priority: world.word(world.executions.priority_word, index), id: world.executions.id.get(index), held_ns: ns });
		}
	return rows.sort((a, b) => b.held_ns - a.held_ns).slice(0, 50);
}

const holderColumns = [{ name: 'lane', class: 'text' }, { name: 'app', class: 'text' }, { name: 'model', class: 'text' }, { name: 'priority', class: 'label' },
	{ name: 'id', class: 'id' }, { name: 'held_ns', class: 'duration' }];
const causeColumns = [{ name: 'cause', class: 'label' }, { name: 'culprit', class: 'text' }, { name: 'culprit_execution_id', class: 'id' },
	{ name: 'late_ns', class: 'duration' }, { name: 'budget_ns', class: 'duration' }, { name: 'without it met', class: 'text' }];

/** @param {any} world @param {number} id */
function causesOf(world, id) {
	const { causes } = world, rows = [];
	const value = (/** @type {string} */ column, /** @type {number} */ i) => { const v = causes[column].get(i); return Number.isNaN(v) ? null : v; };

	for (let i = lowerBound(causes.execution_id.codes, id); i < causes.n && causes.execution_id.get(i) === id; i++) {
		const app = value('culprit_app_id', i), saved = value('saved', i);

		rows.push({ cause: world.word(causes.cause_word, i), culprit: app === null ? null : world.appName(app), culprit_execution_id: value('culprit_execution_id', i),
			late_ns: value('late_ns', i), budget_ns: value('budget_ns', i), 'without it met': saved === null ? 'cannot tell' : saved ? 'yes' : 'no' });
	}
	return rows;
}

/** The ledger of @causes, whose rows add up to how late it was; with one that is not known, so is not the sum. @param {any[]} causes */
export function ledgerOf(causes) {
	const sum = (/** @type {string} */ name) => causes.reduce((all, row) => (all === null || row[name] === null ? null : all + row[name]), 0);

	return [...causes, { cause: 'sum', culprit: null, culprit_execution_id: null, late_ns: sum('late_ns'), budget_ns: sum('budget_ns'), 'without it met': '' }];
}

const withoutColumns = [{ name: 'taken away', class: 'text' }, { name: 'its deadline', class: 'label' }];

/** What replays of a miss say, each without something: what could be told. @param {any} world @param {number} id */
function withoutOf(world, id) {
	const { without } = world, rows = [];

	for (let i = lowerBound(without.execution_id.codes, id); i < without.n && without.execution_id.get(i) === id; i++) {
		const [app, model, earlier] = [without.app_id.get(i), without.model_id.get(i), without.earlier_ns.get(i)];
		const what = Number.isFinite(earlier) ? `submitted ${duration(noShorter(earlier))} earlier` : without.cause_word.codes[i] ? `without all that ${world.word(without.cause_word, i)} took`
			: Number.isFinite(model) ? `without ${world.modelName(model)} of ${world.appName(app)}` : `without ${world.appName(app)} altogether`;

		rows.push({ 'taken away': what, 'its deadline': without.met.get(i) ? 'met' : 'missed all the same' });
	}
	return rows;
}

/** @param {any} world @param {number} index */
function headlineOf(world, index) {
	const { executions } = world, late = executions.lateness_ns.get(index);

	if (world.missed(index))
		return `missed its deadline (${world.word(executions.miss_word, index)})${Number.isFinite(late) ? `: late by ${duration(late)}` : ''}`;
	return Number.isNaN(executions.deadline.get(index)) ? 'had no deadline' : 'met its deadline';
}

/** What is known of execution @index, into @place. @param {HTMLElement} place @param {any} world @param {any[]} lanes @param {number} index @param {string} database */
export function showExecution(place, world, lanes, index, database) {
	const { executions } = world, id = executions.id.get(index), began = executions.began.get(index);
	const parts = phasesOf(world, index), all = parts.reduce((sum, p) => sum + p.ns, 0);
	const facts = [['app', world.appName(executions.app_id.get(index))], ['model', world.modelName(executions.model_id.get(index))],
		['priority', world.word(executions.priority_word, index)], ['path', world.word(executions.path_word, index)], ['status', world.word(executions.status_word, index)],
		['recorded', `${world.word(executions.quality_word, index)}, ${world.word(executions.sides_word, index)}`], ['began', time(began)],
		['end to end', duration(executions.e2e_ns.get(index))], ['deadline', Number.isNaN(executions.deadline.get(index)) ? 'none' : `${duration(executions.deadline.get(index))} after it began`],
		['preemptions', Number.isNaN(executions.preemptions.get(index)) ? '-' : count(executions.preemptions.get(index))]];

	place.replaceChildren(make('h3', {}, `Execution ${id} of ${world.appName(executions.app_id.get(index))} ${headlineOf(world, index)}`),
		make('p', {}, facts.map(([name, value]) => `${name}: ${value}`).join(' · ')));
	if (parts.length) {
		place.append(barOf(parts), keyOf(parts.map((p) => ({ name: p.phase, place: p.place }))));
		place.append(tableOf('Phases: they add up to its time from end to end, where all of it was recorded',
			[{ name: 'phase', class: 'label' }, { name: 'took_ns', class: 'duration' }, { name: 'share_percent', class: 'percent' }, { name: 'exactly', class: 'text' }],
			parts.map((p) => ({ phase: p.phase, took_ns: p.ns, share_percent: 100 * p.ns / all, exactly: `${count(p.ns)} ns` }))));
	}
	const enqueued = executions.enqueued.get(index), until = Number.isNaN(executions.dispatched.get(index)) ? executions.ended.get(index) : executions.dispatched.get(index);
	const holders = until > enqueued ? holdersOf(world, lanes, began + enqueued, began + until) : [];

	if (holders.length)
		place.append(tableOf(`Who held lanes while it waited for the first time${world.thinned ? ', of the executions in this page' : ''}`, holderColumns, holders));
	if (world.causes) {
		const causes = causesOf(world, id);

		if (causes.length)
			place.append(tableOf('Why its deadline was missed: a ledger, whose rows add up to how late it was', causeColumns, ledgerOf(causes)));
		const without = withoutOf(world, id);

		if (without.length)
			place.append(tableOf('Replayed without something', withoutColumns, without));
		else if (causes.length)
			place.append(make('p', { class: 'note' }, 'What a replay without an app, a model or a cause would give cannot be told of it.'));
	}
	place.append(make('p', { class: 'note' }, 'In full: ', make('code', {}, `burstscope explain ${id} ${quoted(database)}`), ' ', copyButton('this execution', () => place.innerText)));
	place.hidden = false;
}

/** Of executions @indices: how many, how they ended and how long they took. @param {any} world @param {Uint32Array} indices @param {(sorted: Float64Array, p: number) => number} percentile */
function figuresOf(world, indices, percentile) {
	const sorted = Float64Array.from(indices.filter((i) => world.answered(i)), (i) => world.executions.e2e_ns.get(i)).sort();

	return { n_executions: indices.length, n_missed: indices.filter((i) => world.missed(i)).length, n_answered: sorted.length,
		p50_ns: sorted.length ? percentile(sorted, 50) : null, p99_ns: sorted.length ? percentile(sorted, 99) : null };
}

/** For how much of the time of all lanes from @from to @to each app had one, in percent, by its place; null: no lane is known. @param {any[]} lanes @param {number} from @param {number} to @param {any} heldBy */
function sharesOf(lanes, from, to, heldBy) {
	const held = new Float64Array(places + 1), before = new Float64Array(places + 1), after = new Float64Array(places + 1);

	for (const lane of lanes) {
		heldBy(lane, from, before);
		heldBy(lane, to, after);
		for (let i = 0; i <= places; i++)
			held[i] += after[i] - before[i];
	}
	const all = lanes.length * (to - from);
	return [...held].map((ns) => (all > 0 ? 100 * ns / all : null));
}

/** Figures of what was submitted from @from to @to, and of the lanes then. @param {any} world @param {import('./timeline.js').App[]} apps @param {any[]} lanes @param {number} from @param {number} to @param {any} tools heldBy, percentile */
export function selectionOf(world, apps, lanes, from, to, tools) {
	const shares = sharesOf(lanes, from, to, tools.heldBy);

	return apps.map((app) => ({ app: app.name, ...figuresOf(world, app.index.subarray(lowerBound(app.began, from), lowerBound(app.began, to)), tools.percentile),
		lane_percent: app.place < places ? shares[app.place] : null })).filter((row) => row.n_executions > 0);
}

/** The same by app and model, those with the most executions first. @param {any} world @param {import('./timeline.js').App[]} apps @param {number} from @param {number} to @param {any} tools percentile */
function modelsOf(world, apps, from, to, tools) {
	return apps.flatMap((app) => {
		/** @type {Map<string, number[]>} */
		const lists = new Map();

		for (const i of app.index.subarray(lowerBound(app.began, from), lowerBound(app.began, to))) {
			const model = world.modelName(world.executions.model_id.get(i)), list = lists.get(model);

			if (list)
				list.push(i);
			else
				lists.set(model, [i]);
		}
		return [...lists].map(([model, list]) => ({ app: app.name, model, ...figuresOf(world, Uint32Array.from(list), tools.percentile) }));
	}).sort((a, b) => b.n_executions - a.n_executions).slice(0, MOST_MODELS);
}

const figureColumns = [{ name: 'n_executions', class: 'count' }, { name: 'n_missed', class: 'count' }, { name: 'n_answered', class: 'count' }, { name: 'p50_ns', class: 'duration' },
	{ name: 'p99_ns', class: 'duration' }];

const selectionColumns = [{ name: 'app', class: 'text' }, ...figureColumns, { name: 'lane_percent', class: 'percent' }];
const modelColumns = [{ name: 'app', class: 'text' }, { name: 'model', class: 'text' }, ...figureColumns];

/** @columns of figures of executions; where @world has not all, they say so, but for misses, which are all there. @param {any} world @param {any[]} columns */
export function markedIn(world, columns) {
	return world.thinned ? columns.map((c) => (c.class === 'text' || c.name.startsWith('n_missed') ? c : { ...c, head: `${said(c.name)}${c.name.startsWith('n_') ? ' here' : ' of these'}` })) : columns;
}

/** "64 of the 250 to 262 executions that were submitted": how many of them are in the page, and were. @param {any} world @param {number} here @param {number} from @param {number} to */
export function countHereOf(world, here, from, to) {
	const [least, most] = world.submittedIn(from, to).map((/** @type {number} */ n) => Math.max(n, here));

	return `${count(here)} of the ${least < most ? `${count(least)} to ` : ''}${count(most)} executions that were submitted`;
}

/** @param {any[]} rows */
export function executionsIn(rows) {
	return rows.reduce((n, row) => n + row.n_executions, 0);
}

/** What was submitted from @from to @to, by app and by model; and of what these figures are, where the page has not all. @param {any} world @param {import('./timeline.js').App[]} apps @param {any[]} lanes @param {number} from @param {number} to @param {any} tools heldBy, percentile */
export function tablesOfSpan(world, apps, lanes, from, to, tools) {
	const rows = selectionOf(world, apps, lanes, from, to, tools), here = countHereOf(world, executionsIn(rows), from, to);
	const title = `From ${time(from)} to ${time(to)}, ${duration(to - from)}: what was submitted, and who had the lanes${world.thinned ? `; only ${here} are here` : ''}`;
	const note = `This page has ${here} then: all that missed their deadlines, and a part of the others. So "missed" is of all, other counts are the least that there were, and percentiles and shares of the lanes are of these executions only: see Method.`;

	return [tableOf(title, markedIn(world, selectionColumns), rows), tableOf(`The same by app and model${world.thinned ? ', of the executions that are here' : ''}`, markedIn(world, modelColumns), modelsOf(world, apps, from, to, tools)),
		...(world.thinned ? [make('p', { class: 'note' }, note)] : []), make('p', { class: 'note' }, `Lane: for how much of the span the app held ${lanes.length > 1 ? `a lane; 100 % are all ${lanes.length} lanes, all the time` : 'the lane'}.`)];
}
