// data.js -- what is in the page: answers and the overview as JSON, executions as packs (viewer-cli/report/pack.h says how they are written).

/** Of an execution, in their order; each has a column with _ns after it. */
export const phases = ['prepare', 'send', 'decode', 'fence', 'slots', 'queue', 'run', 'preempted', 'reply', 'return', 'finish', 'signal'];

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float64Array} Codes */

/** A column of a pack. A plain one keeps the codes it came in: 0 is NULL. */
export class Column {
	/** @param {number} n @param {number} width bytes of its largest code @param {boolean} delta */
	constructor(n, width, delta) {
		this.delta = delta;
		/** @type {Codes} */
		this.codes = delta || width > 4 ? new Float64Array(n)
			: width > 2 ? new Uint32Array(n) : width > 1 ? new Uint16Array(n) : new Uint8Array(n);
		this.last = 0;
	}

	/** NaN: NULL. @param {number} i */
	get(i) {
		const code = this.codes[i];

		if (this.delta)
			return code;
		if (code === 0)
			return NaN;
		return code % 2 ? (code - 1) / 2 : -code / 2;
	}

	/** Take @width planes of @n bytes from @planes; the rows begin at @first. @param {Uint8Array} planes @param {number} width @param {number} first @param {number} n */
	fill(planes, width, first, n) {
		const codes = this.codes;

		for (let i = 0; i < n; i++) {
			let code = 0;

			for (let plane = width - 1; plane >= 0; plane--)
				code = code * 256 + planes[plane * n + i];
			if (this.delta)
				codes[first + i] = this.last += code % 2 ? -(code + 1) / 2 : code / 2;
			else
				codes[first + i] = code;
		}
	}
}

/** @typedef {{n: number, [column: string]: any}} Pack columns by their names */

/** @param {string} id */
export function jsonOf(id) {
	const element = document.getElementById(id);

	return element ? JSON.parse(element.textContent ?? 'null') : null;
}

/** What the commands answered, by their names. @returns {Record<string, any>} */
export function answersOf() {
	/** @type {Record<string, any>} */
	const answers = {};

	for (const element of document.querySelectorAll('script[data-answer]'))
		answers[/** @type {HTMLElement} */ (element).dataset.answer ?? ''] = JSON.parse(element.textContent ?? 'null');
	return answers;
}

/** @param {string} text @returns {Uint8Array} */
function bytesOf(text) {
	const native = /** @type {any} */ (Uint8Array).fromBase64;

	return native ? native.call(Uint8Array, text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/** @param {Uint8Array} small */
async function inflate(small) {
	const stream = new Blob([/** @type {any} */ (small)]).stream().pipeThrough(new DecompressionStream('deflate'));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The pack @name, whole. @param {string} name @returns {Promise<Pack>} */
export async function packOf(name) {
	const columns = document.querySelector(`script[data-columns="${name}"]`);
	const chunks = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(`script[data-pack="${name}"]`)]);
	/** @type {[string, number][]} */
	const list = JSON.parse(columns?.textContent ?? '[]');
	const rows = chunks.map((c) => Number(c.dataset.rows));
	const widths = chunks.map((c) => (c.dataset.widths ?? '').split(',').map(Number));
	const n = rows.reduce((a, b) => a + b, 0);
	const made = list.map(([, delta], c) => new Column(n, Math.max(0, ...widths.map((w) => w[c])), delta === 1));
	let first = 0;

	for (const [i, chunk] of chunks.entries()) {
		const bytes = await inflate(bytesOf(chunk.textContent ?? ''));
		let at = 0;

		chunk.remove(); // its text would stay in memory
		for (const [c, width] of widths[i].entries()) {
			made[c].fill(bytes.subarray(at, at + width * rows[i]), width, first, rows[i]);
			at += width * rows[i];
		}
		first += rows[i];
	}
	return { n, ...Object.fromEntries(list.map(([column], c) => [column, made[c]])) };
}

/** The first place in sorted @array[0..@n) whose value is not less than @value. @param {ArrayLike<number>} array @param {number} value */
export function lowerBound(array, value, n = array.length) {
	let from = 0, to = n;

	while (from < to) {
		const middle = (from + to) >>> 1;

		if (array[middle] < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/** By nearest rank, of a sorted array. @param {ArrayLike<number>} sorted @param {number} p */
export function percentile(sorted, p) {
	return sorted.length ? sorted[Math.max(0, Math.ceil(p * sorted.length / 100) - 1)] : NaN;
}
