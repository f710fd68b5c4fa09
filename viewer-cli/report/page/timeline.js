// timeline.js -- lanes and apps over time. What is drawn costs pixels, not executions: where there are more stretches than pixels, each
// pixel shows which share of it each app had, from sums that are kept for every 64th stretch.
import { colourOf, drawAxis, fit, hatch, ink, places, swatchOf } from './draw.js';
import { count, duration, readTime, time } from './format.js';
import { drawLink, linksBetween } from './links.js';
import { lowerBound } from './data.js';
import { make } from './tables.js';

const BLOCK = 64, AXIS = 20, LANE = 26, CPU = 20, APP = 38, ROWS = 3, MOST_APPS = 16, MOST_LANES = 32, MOST_CPUS = 32, MOST_FOUND = 1024, MOST_DRAWN = 800, PALE = 0.45;

/** @typedef {{name: string, began: Float64Array, ended: Float64Array, index: Int32Array, place: Uint8Array, sums: Float64Array}} Lane */
/** @typedef {{id: number, name: string, place: number, began: Float64Array, index: Uint32Array, missed: Float64Array, missedIndex: Uint32Array, longest: number, n: number}} App */

/** @typedef {{name: string, began: number[], ended: number[], busy: number[], known: number[]}} Cpu busy, known: how long it had run threads, or was known at all, before each stretch */

/** What each cpu did, where a kernel was recorded. @param {any} world @returns {Cpu[]} */
export function cpusOf(world) {
	const { cpus } = world;
	/** @type {Map<number, Cpu>} */
	const found = new Map();

	for (let i = 0; cpus && i < cpus.n; i++) {
		const number = cpus.cpu.get(i), began = cpus.began.get(i), ended = cpus.ended.get(i);
		const cpu = found.get(number) ?? { name: `cpu ${number}`, began: [], ended: [], busy: [0], known: [0] };

		found.set(number, cpu);
		cpu.began.push(began);
		cpu.ended.push(ended);
		cpu.busy.push((cpu.busy.at(-1) ?? 0) + (cpus.idle.get(i) ? 0 : ended - began));
		cpu.known.push((cpu.known.at(-1) ?? 0) + ended - began);
	}
	return [...found.values()];
}

/** How long before @at the cpu had been so, as @sums say. @param {Cpu} cpu @param {number[]} sums @param {number} at */
export function beforeOn(cpu, sums, at) {
	let low = 0, high = cpu.began.length;

	while (low < high) {
		const middle = low + high >> 1;

		if (cpu.began[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	const length = cpu.ended[low - 1] - cpu.began[low - 1], part = Math.min(length, at - cpu.began[low - 1]);

	return sums[low - 1] + (length ? (sums[low] - sums[low - 1]) * part / length : 0);
}

/** @param {Lane} lane */
function addSums(lane) {
	const held = new Float64Array(places + 1);

	lane.sums = new Float64Array((Math.floor(lane.began.length / BLOCK) + 1) * (places + 1));
	for (let i = 0; i < lane.began.length; i++) {
		if (i % BLOCK === 0)
			lane.sums.set(held, i / BLOCK * (places + 1));
		held[lane.place[i]] += lane.ended[i] - lane.began[i];
	}
	if (lane.began.length % BLOCK === 0)
		lane.sums.set(held, lane.began.length / BLOCK * (places + 1));
}

/** How long each app had had the lane by the time @at, into @ret. @param {Lane} lane @param {number} at @param {Float64Array} ret */
export function heldBy(lane, at, ret) {
	const end = lowerBound(lane.began, at), block = Math.floor(end / BLOCK);

	ret.set(lane.sums.subarray(block * (places + 1), (block + 1) * (places + 1)));
	for (let i = block * BLOCK; i < end; i++)
		ret[lane.place[i]] += Math.min(at, lane.ended[i]) - lane.began[i];
	if (end === block * BLOCK && end > 0 && lane.ended[end - 1] > at)
		ret[lane.place[end - 1]] -= lane.ended[end - 1] - at;
}

/** Pixels for a nanosecond, of each column of pixels: where a lane was held, there is a whole pixel at least. @param {Float64Array} held by place, at each column's begin @param {number} width @param {number} usual */
function scalesOf(held, width, usual) {
	const some = places + 1;

	return Float64Array.from({ length: width }, (_, x) => {
		let sum = 0;

		for (let place = 0; place < some; place++)
			sum += held[(x + 1) * some + place] - held[x * some + place];
		return sum > 0 && sum * usual < 1 ? 1 / sum : usual;
	});
}

/** The number that a code of a column stands for, which is not NULL: Column.get, for loops over all executions. @param {number} code */
function numberOf(code) {
	return code % 2 ? (code - 1) / 2 : -code / 2;
}

const NO_LANE = 0xffff, DIGIT = 2 ** 13;

/**
 * The places of @began in the order of its values; null: it is in order. By radix, because to compare each pair takes several times as long.
 * @param {Float64Array} began
 */
export function orderOf(began) {
	const n = began.length;
	let least = Infinity, most = -Infinity, sorted = true;

	for (let i = 0; i < n; i++) {
		sorted &&= began[i] >= most;
		least = began[i] < least ? began[i] : least;
		most = began[i] > most ? began[i] : most;
	}
	if (sorted)
		return null;
	const digits = new Uint16Array(n);
	let from = new Uint32Array(n), to = new Uint32Array(n);

	for (let i = 0; i < n; i++)
		from[i] = i;
	for (let unit = 1; unit <= most - least; unit *= DIGIT) {
		const next = new Uint32Array(DIGIT + 1);

		for (let i = 0; i < n; i++) {
			digits[i] = Math.floor((began[i] - least) / unit) % DIGIT;
			next[digits[i] + 1]++;
		}
		for (let digit = 1; digit < DIGIT; digit++)
			next[digit] += next[digit - 1];
		for (let k = 0; k < n; k++)
			to[next[digits[from[k]]]++] = from[k];
		[from, to] = [to, from];
	}
	return from;
}

/**
 * The rows of a lane each: of every execution that was on one lane once, and of every slice after them, the number of its lane; and of each lane
 * its name and how many stretches it has. @param {any} executions @param {any} slices
 */
function lanesIn(executions, slices) {
	const ofStretch = new Uint16Array(executions.n + slices.n).fill(NO_LANE);
	/** @type {Map<number, {instance: number, lane: number, row: number, n: number}>} */
	const found = new Map();
	const others = { instance: NaN, lane: NaN, row: MOST_FOUND, n: 0 };

	let key = NaN, here = others;

	/** @param {any} pack @param {number} i @param {number} stretch */
	const add = ({ instance, lane }, i, stretch) => {
		const k = instance.codes[i] * 2 ** 20 + lane.codes[i];

		if (k !== key) {
			key = k;
			here = found.get(k) ?? (found.size < MOST_FOUND ? { instance: instance.get(i), lane: lane.get(i), row: found.size, n: 0 } : others);
			if (here !== others)
				found.set(k, here);
		}
		here.n++;
		ofStretch[stretch] = here.row;
	};
	const lanes = executions.lane.codes, dispatched = executions.dispatched.codes, ends = executions.run_ended.codes;

	for (let i = 0; i < executions.n; i++)
		if (lanes[i] && dispatched[i] && ends[i]) // 0: it is not known
			add(executions, i, i);
	for (let i = 0; i < slices.n; i++)
		add(slices, i, executions.n + i);
	return { ofStretch, found: [...found.values()] };
}

/** Where in @ids the id is; near @near, mostly: executions run in about the order in which they were submitted. @param {Float64Array} ids @param {number} id @param {number} near */
function indexNear(ids, id, near) {
	let at = Math.max(0, near - 8);

	if (ids[at] > id)
		at = lowerBound(ids, id);
	for (const end = at + 24; at < end && ids[at] < id;)
		at++;
	if (ids[at] < id)
		at = lowerBound(ids, id, at);
	return ids[at] === id ? at : -1;
}

const FAR = 8; // places by which a stretch is out of order on average, beyond which sorting all of them takes less time than moving each

/** Put the stretches of @lane in the order of time by moving each before those that began later; false: that takes too long. @param {Lane} lane */
function moveToOrder({ began, ended, index, place }) {
	let room = FAR * began.length;

	for (let k = 1; k < began.length; k++) {
		if (began[k] >= began[k - 1])
			continue;
		const first = began[k], last = ended[k], of = index[k], at = place[k];
		let to = k;

		for (; to > 0 && began[to - 1] > first; to--, room--) {
			began[to] = began[to - 1];
			ended[to] = ended[to - 1];
			index[to] = index[to - 1];
			place[to] = place[to - 1];
		}
		began[to] = first;
		ended[to] = last;
		index[to] = of;
		place[to] = at;
		if (room < 0)
			return false;
	}
	return true;
}

/** Put the stretches of @lane in the order of time. @param {Lane} lane */
function sortLane(lane) {
	const order = moveToOrder(lane) ? null : orderOf(lane.began);

	for (const name of order ? /** @type {const} */ (['began', 'ended', 'index', 'place']) : []) {
		const before = lane[name].slice();

		for (let k = 0; order && k < order.length; k++)
			lane[name][k] = before[order[k]];
	}
}

/** The lanes, each in the order of time: the stretches of executions that were on one lane once, and the slices of the others. @param {any} world @returns {Lane[]} */
export function lanesOf(world) {
	const { slices, executions } = world, { ofStretch, found } = lanesIn(executions, slices), several = new Set(found.map((f) => f.instance)).size > 1;
	const lanes = found.map((f) => ({ name: several ? `service ${f.instance}, lane ${f.lane}` : `lane ${f.lane}`, began: new Float64Array(f.n), ended: new Float64Array(f.n),
		index: new Int32Array(f.n), place: new Uint8Array(f.n), sums: new Float64Array(0) }));
	const filled = new Uint32Array(lanes.length), ids = executions.id.codes, apps = executions.app_id.codes;
	const firsts = executions.began.codes, dispatched = executions.dispatched.codes, ends = executions.run_ended.codes;
	/** @type {number[]} by the code of an app */
	const placeOf = [];

	/** @param {number} row @param {number} began @param {number} ended @param {number} index of the execution; -1: it is not in the page */
	const add = (row, began, ended, index) => {
		const lane = lanes[row], k = filled[row]++;

		lane.began[k] = began;
		lane.ended[k] = ended;
		lane.index[k] = index;
		lane.place[k] = index < 0 ? places : placeOf[apps[index]] ??= world.placeOf(executions.app_id.get(index));
	};

	let next = 0, latest = -1;

	/** Adds the slices that begin before @until: merged, because stretches that are in order need not be sorted. @param {number} until */
	const addSlices = (until) => {
		for (; next < slices.n && slices.began.codes[next] < until; next++) {
			const began = slices.began.codes[next], near = indexNear(ids, slices.execution_id.codes[next], latest);

			latest = Math.max(latest, near);
			if (ofStretch[executions.n + next] < lanes.length)
				add(ofStretch[executions.n + next], began, began + (slices.dur.get(next) || 0), near);
		}
	};

	for (let i = 0; i < executions.n; i++)
		if (ofStretch[i] < lanes.length) {
			const began = firsts[i] + numberOf(dispatched[i]);

			addSlices(began);
			add(ofStretch[i], began, firsts[i] + numberOf(ends[i]), i);
		}
	addSlices(Infinity);
	lanes.forEach(sortLane);
	lanes.forEach(addSums);
	return lanes.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** How many executions each app has: by its code. @param {any} executions */
function countsOf(executions) {
	/** @type {Map<number, {id: number, n: number}>} */
	const counts = new Map();
	const { codes } = executions.app_id;
	let code = -1, here = { id: NaN, n: 0 };

	for (let i = 0; i < executions.n; i++) {
		if (codes[i] !== code) {
			code = codes[i];
			here = counts.get(code) ?? { id: executions.app_id.get(i), n: 0 };
			counts.set(code, here);
		}
		here.n++;
	}
	return counts;
}

/** @param {App} app @param {any} world */
function finish(app, world) {
	const order = orderOf(app.began), misses = world.executions.miss_word.codes;

	if (order) {
		const began = app.began.slice(), index = app.index.slice();

		for (let k = 0; k < app.n; k++) {
			app.began[k] = began[order[k]];
			app.index[k] = index[order[k]];
		}
	}
	/** @type {number[]} */
	const missed = [];

	for (let k = 0; k < app.n; k++)
		if (misses[app.index[k]] !== 0)
			missed.push(app.index[k]);
	app.missedIndex = Uint32Array.from(missed);
	app.missed = Float64Array.from(missed, (i) => world.executions.began.codes[i]);
}

/** @param {any} world @returns {App[]} apps with the most executions; then all others as one */
export function appsOf(world) {
	const { executions } = world, counts = countsOf(executions);
	const codes = [...counts.keys()].sort((a, b) => (counts.get(b)?.n ?? 0) - (counts.get(a)?.n ?? 0) || a - b);
	const alone = codes.length > MOST_APPS ? codes.slice(0, MOST_APPS - 1) : codes;
	const sizes = alone.map((code) => counts.get(code)?.n ?? 0), ids = alone.map((code) => counts.get(code)?.id ?? NaN);

	if (alone.length < codes.length)
		sizes.push(executions.n - sizes.reduce((a, b) => a + b, 0));
	const apps = sizes.map((n, row) => ({ id: ids[row] ?? NaN, name: row < alone.length ? world.appName(ids[row]) : `${codes.length - alone.length} others`,
		place: row < alone.length ? world.placeOf(ids[row]) : places, began: new Float64Array(n), index: new Uint32Array(n), missed: new Float64Array(0),
		missedIndex: new Uint32Array(0), longest: 0, n: 0 }));
	const rows = new Map(alone.map((code, row) => [code, apps[row]]));

	const began = executions.began.codes, ends = executions.ended.codes, ofExecution = executions.app_id.codes;

	for (let i = 0; i < executions.n; i++) {
		const app = rows.get(ofExecution[i]) ?? apps[alone.length], ended = numberOf(ends[i]);

		app.index[app.n] = i;
		app.began[app.n++] = began[i];
		if (ended > app.longest)
			app.longest = ended;
	}
	apps.forEach((app) => finish(app, world));
	return apps;
}

const SPIKE = 2, USUAL = 0.98; // a bar that is more than SPIKE times as high as the usual most is cut off

/** What the highest bar stands for: the most of @counts, or of all but the highest few, if these would crush the others. @param {ArrayLike<number>} counts */
export function topOf(counts) {
	const sorted = Float64Array.from(counts).filter((n) => n > 0).sort(), most = sorted.at(-1) ?? 1, usual = sorted[Math.ceil(USUAL * sorted.length) - 1] ?? 1;

	return Math.max(1, most > SPIKE * usual ? usual : most);
}

/** Where time begins, right of the names. @param {number} width */
function marginOf(width) {
	return width < 600 ? 76 : 150;
}

/** A span as addresses and commands have it. @param {[number, number]} span @returns {string[]} */
export function secondsOf(span) {
	const digits = span[1] - span[0] < 1e6 ? 9 : 6;

	return span.map((ns) => `${(ns / 1e9).toFixed(digits)}s`);
}

/** The address names the span that the reader has chosen in @timeline; or no span any more. @param {Timeline} timeline @param {string} prefix of its links */
export function spanIntoAddress({ selection }, prefix) {
	if (selection)
		history.replaceState(null, '', `#${prefix}t=${secondsOf(selection).join('..')}`);
	else if (location.hash.startsWith(`#${prefix}t=`))
		history.replaceState(null, '', '#timeline');
}

const ROUNDED = 1000; // ns by which an address may be beyond the end, because its digits are rounded

export class Timeline {
	/** @param {HTMLCanvasElement} canvas @param {HTMLElement} tip @param {any} world @param {{changed: () => void, selected: () => void, chosen: () => void, picked: (index: number) => void}} tell */
	constructor(canvas, tip, world, tell) {
		this.canvas = canvas;
		this.tip = tip;
		this.world = world;
		this.tell = tell;
		this.from = 0;
		this.to = world.length;
		/** @type {[number, number] | null} */
		this.selection = null;
		this.picked = -1;
		/** @type {Lane[]} */
		this.lanes = [];
		/** @type {Cpu[]} */
		this.cpus = [];
		/** @type {App[]} */
		this.apps = [];
		/** @type {{x: number, width: number, y: number, height: number, index: number}[]} */
		this.boxes = [];
		/** @type {import('./links.js').Link[]} as they were drawn */
		this.links = [];
		this.waiting = 0;
		this.width = 0; // when it was drawn last: asking the canvas each time takes longer than drawing
		this.listen();
	}

	/** The executions are there. */
	ready() {
		this.lanes = lanesOf(this.world).slice(0, MOST_LANES);
		this.cpus = cpusOf(this.world).slice(0, MOST_CPUS);
		this.apps = appsOf(this.world);
		this.world.slices = null; // the lanes have them
		this.draw();
	}

	height() {
		return this.appsAt() + this.apps.length * APP + 8;
	}

	/** Where the rows of apps begin. */
	appsAt() {
		return AXIS + this.lanes.length * LANE + this.cpus.length * CPU;
	}

	margin() {
		return marginOf(this.width);
	}

	/** @param {number} at */
	xOf(at) {
		return this.margin() + (at - this.from) / (this.to - this.from) * (this.width - this.margin());
	}

	/** @param {number} x */
	timeOf(x) {
		return this.from + (x - this.margin()) / (this.width - this.margin()) * (this.to - this.from);
	}

	/** Show from @from to @to, no less than 1 us and no more than all. @param {number} from @param {number} to */
	show(from, to) {
		const length = Math.min(this.world.length, Math.max(1000, to - from));
		const start = Math.min(Math.max(0, from), this.world.length - length);

		this.from = start;
		this.to = start + length;
		this.tell.changed();
		this.soon();
	}

	/** Shows and selects "1.2s..1.4s", or as much of it as was recorded. @param {string} text @returns {string} what there is to say of it */
	showSpan(text) {
		const [from, to] = text.split('..').map(readTime), { length } = this.world;

		this.select(0, 0);
		if (!(from < to))
			return 'A span is written with units, its begin first: #t=1.2s..1.4s.';
		this.select(from, to);
		if (!this.selection)
			return `Nothing of that span was recorded: the recording is from ${time(0)} to ${time(length)}.`;
		this.show(...this.selection);
		return from < 0 || to > length + ROUNDED ? `Selected is what was recorded of that span: the recording is from ${time(0)} to ${time(length)}.` : '';
	}

	/** Marks one execution, and goes to it if it is not in sight. @param {number} index */
	pick(index) {
		const { executions } = this.world, began = executions.began.get(index), length = Math.max(1000, executions.ended.get(index) || 0);

		this.picked = index;
		if (began < this.from || began + length > this.to || length < (this.to - this.from) / 200)
			this.show(began - 2 * length, began + 3 * length);
		this.soon();
	}

	/** @param {number} factor @param {number} around */
	zoom(factor, around) {
		this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
	}

	soon() {
		this.waiting ||= requestAnimationFrame(() => {
			this.waiting = 0;
			this.draw();
		});
	}

	draw() {
		const { context, width, height } = fit(this.canvas, this.height());

		this.width = width;
		const margin = this.margin();
		let y = AXIS;

		this.boxes = [];
		drawAxis(context, { from: this.from, to: this.to, x: margin, width: width - margin, y: 0, bottom: height });
		for (const lane of this.lanes) {
			this.label(context, lane.name, y + LANE / 2, 'ink');
			this.drawLane(context, lane, y + 3, LANE - 6);
			y += LANE;
		}
		for (const cpu of this.cpus) {
			this.label(context, cpu.name, y + CPU / 2, 'ink');
			this.drawCpu(context, cpu, y + 3, CPU - 6);
			y += CPU;
		}
		for (const app of this.apps) {
			this.label(context, app.name, y + APP / 2, 'ink');
			this.drawApp(context, app, y + 3, APP - 6);
			y += APP;
		}
		this.drawLinks(context);
		this.drawLosses(context, height);
		this.drawSelection(context, height);
	}

	/** @param {CanvasRenderingContext2D} context @param {string} text @param {number} y @param {string} colour */
	label(context, text, y, colour) {
		const room = this.margin() - 8;
		let shown = text.slice(0, 60);

		context.textBaseline = 'middle';
		context.textAlign = 'left';
		context.fillStyle = ink(colour);
		while (shown.length > 1 && context.measureText(shown).width > room)
			shown = `${shown.replace(/…$/, '').slice(0, -1)}…`;
		context.fillText(shown, 2, y);
	}

	/** @param {CanvasRenderingContext2D} context @param {Lane} lane @param {number} y @param {number} height */
	drawLane(context, lane, y, height) {
		const first = lowerBound(lane.ended, this.from), last = lowerBound(lane.began, this.to);

		if (last - first <= this.width)
			this.drawStretches(context, lane, first, last, y, height);
		else
			this.drawShares(context, lane, y, height);
	}

	/** Each pixel as high as the part of its time in which the cpu ran threads; a line where it is known. @param {CanvasRenderingContext2D} context @param {Cpu} cpu @param {number} y @param {number} height */
	drawCpu(context, cpu, y, height) {
		const margin = this.margin(), width = this.width - margin, each = (this.to - this.from) / width;
		let busy = beforeOn(cpu, cpu.busy, this.from), known = beforeOn(cpu, cpu.known, this.from);

		context.fillStyle = ink('faint');
		for (let x = 0; x < width; x++) {
			const at = this.from + (x + 1) * each, nextBusy = beforeOn(cpu, cpu.busy, at), nextKnown = beforeOn(cpu, cpu.known, at);
			const part = (nextBusy - busy) / each * height;

			if (nextKnown > known)
				context.fillRect(margin + x, y + height - Math.max(1, part), 1, Math.max(1, part));
			busy = nextBusy;
			known = nextKnown;
		}
	}

	/** @param {CanvasRenderingContext2D} context @param {Lane} lane @param {number} first @param {number} last @param {number} y @param {number} height */
	drawStretches(context, lane, first, last, y, height) {
		const margin = this.margin();

		for (let i = first; i < last; i++) {
			const x = Math.max(margin, this.xOf(lane.began[i])), end = this.xOf(Math.min(this.to, lane.ended[i]));
			const box = { x, width: Math.max(0.7, end - x), y, height, index: lane.index[i] };

			context.fillStyle = colourOf(lane.place[i]);
			context.fillRect(box.x, y, box.width, height);
			if (box.index >= 0 && box.index === this.picked)
				this.outline(context, box);
			this.boxes.push(box);
		}
	}

	/** @param {CanvasRenderingContext2D} context @param {Lane} lane @param {number} y @param {number} height */
	drawShares(context, lane, y, height) {
		const margin = this.margin(), width = this.width - margin, each = (this.to - this.from) / width;
		const some = places + 1, held = new Float64Array((width + 1) * some), tops = new Float64Array(width).fill(y);

		for (let x = 0; x <= width; x++)
			heldBy(lane, this.from + x * each, held.subarray(x * some, (x + 1) * some));
		const scale = scalesOf(held, width, height / each);

		for (let place = 0; place <= places; place++) {
			context.fillStyle = colourOf(place);
			for (let x = 0; x < width; x++) {
				const part = (held[(x + 1) * some + place] - held[x * some + place]) * scale[x];

				if (part > 0)
					context.fillRect(margin + x, tops[x], 1, part);
				tops[x] += Math.max(0, part);
			}
		}
	}

	/** @param {CanvasRenderingContext2D} context @param {App} app @param {number} y @param {number} height */
	drawApp(context, app, y, height) {
		const first = lowerBound(app.began, this.from - app.longest), last = lowerBound(app.began, this.to);

		context.strokeStyle = ink('line');
		context.strokeRect(this.margin(), y + height + 1.5, this.width, 0.01);
		if (last - first <= MOST_DRAWN)
			this.drawExecutions(context, app, first, last, y, height);
		else
			this.drawCounts(context, app, y, height);
	}

	/** @param {CanvasRenderingContext2D} context @param {App} app @param {number} first @param {number} last @param {number} y @param {number} height */
	drawExecutions(context, app, first, last, y, height) {
		const free = new Array(ROWS).fill(-Infinity), each = height / ROWS;

		for (let k = first; k < last; k++) {
			const index = app.index[k], began = app.began[k], ended = began + (this.world.executions.ended.get(index) || 0);

			if (ended < this.from)
				continue;
			let row = free.findIndex((end) => end <= began);

			if (row < 0)
				row = free.indexOf(Math.min(...free));
			free[row] = ended;
			this.drawExecution(context, app, index, y + row * each, each - 1);
		}
	}

	/** Waiting is pale, running is full; its deadline is a mark, and a missed one makes all of it red. @param {CanvasRenderingContext2D} context @param {App} app @param {number} index @param {number} y @param {number} height */
	drawExecution(context, app, index, y, height) {
		const { executions } = this.world, began = executions.began.get(index), missed = this.world.missed(index);
		const margin = this.margin(), x = Math.max(margin, this.xOf(began));
		const end = Math.max(x + 1, this.xOf(Math.min(this.to, began + (executions.ended.get(index) || 0))));
		const ran = executions.dispatched.get(index), over = executions.run_ended.get(index);
		const box = { x, width: end - x, y, height, index };

		context.globalAlpha = PALE;
		context.fillStyle = missed ? ink('bad') : colourOf(app.place);
		context.fillRect(x, y, box.width, height);
		context.globalAlpha = 1;
		if (ran <= over && began + over > this.from)
			for (const [from, to] of this.runsOf(index, began + ran, began + over))
				context.fillRect(Math.max(margin, this.xOf(from)), y, Math.max(0.7, this.xOf(to) - Math.max(margin, this.xOf(from))), height);
		if (executions.deadline.get(index) >= 0 && this.to - this.from < 2e8) {
			context.fillStyle = missed ? ink('bad') : ink('faint');
			context.fillRect(this.xOf(began + executions.deadline.get(index)), y - 1, 1.5, height + 2);
		}
		if (index === this.picked)
			this.outline(context, box);
		this.boxes.push(box);
	}

	/** When execution @index was on a lane between @from and @to: without the time that it was preempted, where a lane's stretches are drawn one by one. @param {number} index @param {number} from @param {number} to @returns {number[][]} */
	runsOf(index, from, to) {
		const runs = [];

		if (!(this.world.executions.preemptions.get(index) > 0))
			return [[from, to]];
		for (const lane of this.lanes) {
			const first = lowerBound(lane.ended, Math.max(from, this.from)), last = lowerBound(lane.began, Math.min(to, this.to));

			if (last - first > this.width)
				return [[from, to]];
			for (let i = first; i < last; i++)
				if (lane.index[i] === index)
					runs.push([lane.began[i], lane.ended[i]]);
		}
		return runs;
	}

	/** @param {CanvasRenderingContext2D} context @param {{x: number, y: number, width: number, height: number}} box */
	outline(context, box) {
		context.lineWidth = 2;
		context.strokeStyle = ink('ink');
		context.strokeRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
		context.lineWidth = 1;
	}

	/** For each pixel how many were submitted, and below how many of them missed. @param {CanvasRenderingContext2D} context @param {App} app @param {number} y @param {number} height */
	drawCounts(context, app, y, height) {
		const margin = this.margin(), width = Math.floor(this.width - margin), each = (this.to - this.from) / width;
		const all = new Float64Array(width), missed = new Float64Array(width);

		for (const [bins, times] of /** @type {[Float64Array, Float64Array][]} */ ([[all, app.began], [missed, app.missed]]))
			for (let x = 0, at = lowerBound(times, this.from); x < width; x++) {
				const next = lowerBound(times, this.from + (x + 1) * each, at);

				bins[x] = next - at;
				at = next;
			}
		const most = topOf(all);

		for (const [bins, colour] of /** @type {[Float64Array, string][]} */ ([[all, colourOf(app.place)], [missed, ink('bad')]])) {
			context.fillStyle = colour;
			for (let x = 0; x < width; x++)
				if (bins[x])
					context.fillRect(margin + x, y + height - Math.min(1, bins[x] / most) * height, 1, Math.min(1, bins[x] / most) * height);
		}
		context.fillStyle = ink('ink');
		for (let x = 0; x < width; x++)
			if (all[x] > most)
				context.fillRect(margin + x - 1, y - 1, 3, 2);
	}

	/** The middle of the row of the app of execution @index. @param {number} index */
	rowOf(index) {
		const id = this.world.executions.app_id.get(index), row = this.apps.findIndex((app) => app.id === id);

		return this.appsAt() + (row < 0 ? this.apps.length - 0.5 : row + 0.5) * APP;
	}

	/** @param {CanvasRenderingContext2D} context */
	drawLinks(context) {
		this.links = linksBetween(this.world, this.from, this.to) ?? [];
		for (const link of this.links)
			drawLink(context, link, { x: Math.max(this.margin(), this.xOf(link.began)), end: this.xOf(Math.min(this.to, link.ended)), top: this.rowOf(link.from), bottom: this.rowOf(link.to) });
	}

	/** @param {CanvasRenderingContext2D} context @param {number} height */
	drawLosses(context, height) {
		const { losses } = this.world, margin = this.margin();

		for (let i = 0; losses && i < losses.n; i++) {
			const x = Math.max(margin, this.xOf(losses.began.get(i))), end = this.xOf(losses.ended.get(i));

			if (end > margin && x < this.width)
				hatch(context, x, AXIS, end - x, height - AXIS);
		}
	}

	/** @param {CanvasRenderingContext2D} context @param {number} height */
	drawSelection(context, height) {
		if (!this.selection)
			return;
		const x = Math.max(this.margin(), this.xOf(this.selection[0])), end = this.xOf(this.selection[1]);

		context.globalAlpha = 0.18;
		context.fillStyle = ink('link');
		context.fillRect(x, AXIS, Math.max(1, end - x), height - AXIS);
		context.globalAlpha = 1;
	}

	/** The execution below @x, @y; -1: none. @param {number} x @param {number} y */
	at(x, y) {
		for (let i = this.boxes.length - 1; i >= 0; i--) {
			const b = this.boxes[i];

			if (x >= b.x - 2 && x <= b.x + b.width + 2 && y >= b.y - 1 && y <= b.y + b.height + 1)
				return b.index;
		}
		return -1;
	}

	/** @param {number} x @param {number} y */
	hover(x, y) {
		const index = this.at(x, y), { executions } = this.world;

		this.tip.hidden = index < 0;
		if (index < 0)
			return;
		const late = executions.lateness_ns.get(index);
		const lines = [`${this.world.appName(executions.app_id.get(index))}, ${this.world.modelName(executions.model_id.get(index))}`,
			`execution ${executions.id.get(index)} at ${time(executions.began.get(index))}`,
			`waited ${duration(executions.queue_ns.get(index))}, ran ${duration(executions.run_ns.get(index))}, in all ${duration(executions.e2e_ns.get(index))}`];

		if (this.world.missed(index))
			lines.push(`deadline missed: ${this.world.word(executions.miss_word, index)}${Number.isFinite(late) ? `, late by ${duration(late)}` : ''}`);
		this.tip.replaceChildren(...lines.map((line) => make('div', {}, line)));
		this.tip.style.left = `${Math.max(0, Math.min(x + 14, this.width - 300))}px`;
		this.tip.style.top = `${y + 16}px`;
	}

	/** The next missed deadline after the one that is shown, or the one before it. @param {number} way 1 or -1 */
	step(way) {
		const { executions } = this.world, all = executions ? this.world.missedInOrder() : [];
		if (!all.length)
			return;
		const now = this.picked >= 0 ? executions.began.get(this.picked) : way > 0 ? -1 : Infinity;
		const at = all.indexOf(this.picked);
		const next = at >= 0 ? all[at + way] : way > 0 ? all.find((/** @type {number} */ i) => executions.began.get(i) > now) : all.findLast((/** @type {number} */ i) => executions.began.get(i) < now);

		if (next !== undefined)
			this.tell.picked(next);
	}

	/** The execution that began after the one that is shown, or before it; without one, the first or last that is drawn. @param {number} way 1 or -1 */
	neighbour(way) {
		const { executions } = this.world;

		if (!executions?.n)
			return;
		const wanted = this.picked >= 0 ? executions.began.get(this.picked) : way > 0 ? this.from : this.to;
		let best = -1;

		for (const app of this.apps) {
			const at = way > 0 ? lowerBound(app.began, wanted) : lowerBound(app.began, wanted + 1) - 1;

			for (let k = at; k >= 0 && k < app.n; k += way) {
				const index = app.index[k], began = app.began[k];

				if (began === wanted && this.picked >= 0 && (index - this.picked) * way <= 0)
					continue;
				if (best < 0 || (began - executions.began.get(best)) * way < 0 || (began === executions.began.get(best) && (index - best) * way < 0))
					best = index;
				break;
			}
		}
		if (best >= 0)
			this.tell.picked(best);
	}

	/** @param {number} a @param {number} b */
	select(a, b) {
		const [from, to] = [Math.max(0, Math.min(a, b)), Math.min(this.world.length, Math.max(a, b))];

		this.selection = from < to ? [from, to] : null; // of what is outside of the recording, nothing
		this.tell.selected();
		this.soon();
	}

	/** @param {string} key */
	press(key) {
		const middle = (this.from + this.to) / 2, part = (this.to - this.from) / 5;

		switch (key.toLowerCase()) {
		case 'w': case '+': this.zoom(1 / 1.5, middle); return true;
		case 's': case '-': this.zoom(1.5, middle); return true;
		case 'a': case 'arrowleft': this.show(this.from - part, this.to - part); return true;
		case 'd': case 'arrowright': this.show(this.from + part, this.to + part); return true;
		case 'z': if (this.selection) this.show(...this.selection); return true;
		case '0': case 'home': this.show(0, this.world.length); return true;
		case 'x': this.select(this.from, this.to); this.tell.chosen(); return true;
		case 'j': this.neighbour(1); return true;
		case 'k': this.neighbour(-1); return true;
		case 'n': this.step(1); return true;
		case 'p': this.step(-1); return true;
		case 'escape': this.select(0, 0); this.tell.chosen(); return true;
		default: return false;
		}
	}

	listen() {
		const { canvas } = this;
		let down = NaN, moved = false;

		canvas.addEventListener('wheel', (e) => {
			e.preventDefault();
			if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
				this.show(this.from + e.deltaX / 1000 * (this.to - this.from), this.to + e.deltaX / 1000 * (this.to - this.from));
			else
				this.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY)) / 300), this.timeOf(e.offsetX));
		}, { passive: false });
		canvas.addEventListener('pointerdown', (e) => {
			down = e.offsetX;
			moved = false;
			canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener('pointermove', (e) => {
			if (Number.isNaN(down)) {
				this.hover(e.offsetX, e.offsetY);
				return;
			}
			moved ||= Math.abs(e.offsetX - down) > 4;
			if (moved)
				this.select(this.timeOf(down), this.timeOf(e.offsetX));
		});
		canvas.addEventListener('pointerup', (e) => {
			const index = moved ? -1 : this.at(e.offsetX, e.offsetY);

			down = NaN;
			if (index >= 0)
				this.tell.picked(index);
			else if (!moved)
				this.select(0, 0);
			if (index < 0)
				this.tell.chosen();
		});
		canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
		canvas.addEventListener('dblclick', () => { if (this.selection) this.show(...this.selection); });
		canvas.addEventListener('keydown', (e) => {
			if (!e.ctrlKey && !e.metaKey && !e.altKey && this.press(e.key))
				e.preventDefault();
		});
	}
}

/** Lanes held, submissions and misses of the whole recording, from the overview that is first in the page. */
export class Strip {
	/** @param {HTMLCanvasElement} canvas @param {any} overview @param {(at: number) => void} go */
	constructor(canvas, overview, go) {
		this.canvas = canvas;
		this.overview = overview;
		this.bins = overview.submitted.length;
		this.most = topOf(overview.submitted);
		const held = Array.from({ length: this.bins }, (_, i) => this.heldIn(i).reduce((a, b) => a + b, 0));

		this.mostHeld = Math.max(1, ...held);
		let down = false;

		const timeOf = (/** @type {number} */ x) => (x - marginOf(canvas.clientWidth)) / (canvas.clientWidth - marginOf(canvas.clientWidth)) * overview.length;

		canvas.addEventListener('pointerdown', (e) => { down = true; go(timeOf(e.offsetX)); });
		canvas.addEventListener('pointermove', (e) => { if (down && e.buttons) go(timeOf(e.offsetX)); });
		canvas.addEventListener('pointerup', () => { down = false; });
	}

	/** @param {number} bin @returns {number[]} ns by place */
	heldIn(bin) {
		return Array.from({ length: places + 1 }, (_, place) => this.overview[`held_${place}`]?.[bin] ?? 0);
	}

	/** @param {number} from @param {number} to what the timeline shows */
	draw(from, to) {
		const { context, width } = fit(this.canvas, 72), margin = marginOf(width), room = width - margin, each = room / this.bins;
		const { submitted, missed, length } = this.overview, xOf = (/** @type {number} */ at) => margin + at / length * room;

		context.fillStyle = ink('faint');
		context.textBaseline = 'middle';
		context.fillText(margin < 100 ? 'lanes' : 'lanes held', 2, 23);
		context.fillText(margin < 100 ? 'missed' : 'submitted, missed', 2, 60);

		for (let i = 0; i < this.bins; i++) {
			let y = 44;

			for (const [place, ns] of this.heldIn(i).entries()) {
				const part = ns / this.mostHeld * 42;

				context.fillStyle = colourOf(place);
				context.fillRect(margin + i * each, y - part, each + 0.3, part);
				y -= part;
			}
			for (const [n, colour] of [[submitted[i], 'faint'], [missed[i], 'bad']]) {
				context.fillStyle = ink(colour);
				context.fillRect(margin + i * each, 70, each + 0.3, -Math.min(1, n / this.most) * 22);
			}
			if (submitted[i] > this.most) {
				context.fillStyle = ink('ink');
				context.fillRect(margin + i * each - 1, 46, Math.max(3, each), 2);
			}
		}
		context.fillStyle = ink('link');
		context.globalAlpha = 0.15;
		context.fillRect(xOf(from), 0, Math.max(2, xOf(to) - xOf(from)), 72);
		context.globalAlpha = 1;
		context.strokeStyle = ink('link');
		context.strokeRect(xOf(from), 0.5, Math.max(2, xOf(to) - xOf(from)), 71);
	}
}

const SVG = 'http://www.w3.org/2000/svg';

/** A sign of the timeline and what it means. @param {string} path @param {string} text @param {boolean} [dashed] */
function sign(path, text, dashed = false) {
	const picture = document.createElementNS(SVG, 'svg'), line = document.createElementNS(SVG, 'path');

	for (const [name, value] of Object.entries({ class: dashed ? 'sign dashed' : 'sign', viewBox: '0 0 18 12', width: '18', height: '12', 'aria-hidden': 'true' }))
		picture.setAttribute(name, value);
	line.setAttribute('d', path);
	picture.append(line);
	return make('span', {}, picture, text);
}

/** @param {any} overview @param {(id: number) => string} name */
export function legendOf(overview, name) {
	const swatch = (/** @type {number} */ place, /** @type {string} */ text) => {
		const colour = make('span', { class: 'swatch' });

		colour.style.background = place < -1 ? 'var(--bad)' : swatchOf(place);
		return make('span', {}, colour, text);
	};
	const list = overview.busiest.map((/** @type {number} */ id, /** @type {number} */ place) => swatch(place, name(id)));

	if (overview.apps_all > overview.busiest.length)
		list.push(swatch(-1, `${count(overview.apps_all - overview.busiest.length)} others`));
	list.push(swatch(-2, 'deadline missed'), make('span', {}, 'pale: on its way or waiting; full: on a lane'), sign('M9 1V11', 'upright mark, close up: its deadline'), sign('M9 0V7M5.5 6H12.5L9 12Z', 'preemption: took the lane of the app at the triangle'),
		sign('M4 0V5M0.5 5H7.5L4 11ZM4 11H18', 'less urgent work of the app at the triangle kept its more urgent work waiting, for as long as the dashes', true), sign('M6 2H12V4H6Z', 'cut off: more than can be drawn'),
		sign('M1 11L8 2M6 11L13 2M11 11L18 2', 'striped: not all was recorded'));
	return list;
}
