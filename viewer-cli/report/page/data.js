// data.js -- what is in the page: answers and the overview as JSON, executions as packs (viewer-cli/report/pack.h says how they are written).

/** Of an execution, in their order; each has a column with _ns after it. */
export const phases = ['prepare', 'send', 'decode', 'fence', 'slots', 'queue', 'run', 'preempted', 'reply', 'return', 'finish', 'signal'];

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float64Array} Codes */

/** A column of a pack. A plain one keeps the codes it came in, of which 0 is NULL; a delta column has its values. */
export class Column {
	/** @param {Codes} codes @param {boolean} delta */
	constructor(codes, delta) {
		this.codes = codes;
		this.delta = delta;
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

/**
 * Unpacks what comes through @port: { columns } begins a pack, { rows, widths, text } is a part of it, and { end: true } is after the last
 * pack. Each pack goes back as { n, codes } when all of it was there. Its text becomes that of a worker, so that it refers to nothing outside.
 * @param {any} port
 */
function unpack(port) {
	/** @type {[string, number][] | null} */
	let columns = null;
	/** @type {Codes[][]} of each column, its parts */
	let parts = [];
	/** @type {number[]} of each delta column, its latest value */
	let latest = [];
	let n = 0;

	/** @param {string} text @returns {Uint8Array} */
	const bytesOf = (text) => {
		const native = /** @type {any} */ (Uint8Array).fromBase64;

		return native ? native.call(Uint8Array, text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	};

	/** @param {number} width in bytes @param {number} rows @returns {Codes} */
	const codesOf = (width, rows) => (width > 4 ? new Float64Array(rows) : width > 2 ? new Uint32Array(rows) : width > 1 ? new Uint16Array(rows) : new Uint8Array(rows));

	/** The codes whose @width planes of @rows bytes are in @planes. @param {Uint8Array} planes @param {number} width @param {number} rows */
	const join = (planes, width, rows) => {
		const codes = codesOf(width, rows), second = planes.subarray(rows), third = planes.subarray(2 * rows), fourth = planes.subarray(3 * rows);

		if (width < 2)
			codes.set(planes.subarray(0, width * rows));
		else if (width === 2)
			for (let i = 0; i < rows; i++)
				codes[i] = planes[i] | second[i] << 8;
		else if (width === 3)
			for (let i = 0; i < rows; i++)
				codes[i] = planes[i] | second[i] << 8 | third[i] << 16;
		else
			for (let i = 0; i < rows; i++)
				codes[i] = (planes[i] | second[i] << 8 | third[i] << 16 | fourth[i] << 24) >>> 0;
		for (let plane = 4, of = 2 ** 32; plane < width; plane++, of *= 256)
			for (let i = 0; i < rows; i++)
				codes[i] += planes[plane * rows + i] * of;
		return codes;
	};

	/** @param {Codes} codes of differences @param {number} c */
	const sum = (codes, c) => {
		const values = new Float64Array(codes.length);
		let value = latest[c] ?? 0;

		for (let i = 0; i < codes.length; i++)
			values[i] = value += codes[i] % 2 ? -(codes[i] + 1) / 2 : codes[i] / 2;
		latest[c] = value;
		return values;
	};

	/** @param {string} text @param {number} rows @param {number[]} widths */
	const takePart = async (text, rows, widths) => {
		const stream = new Blob([/** @type {any} */ (bytesOf(text))]).stream().pipeThrough(new DecompressionStream('deflate'));
		const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
		let at = 0;

		for (const [c, width] of widths.entries()) {
			const codes = join(bytes.subarray(at, at + width * rows), width, rows);

			parts[c].push(columns?.[c][1] ? sum(codes, c) : codes);
			at += width * rows;
		}
		n += rows;
	};

	const giveBack = () => {
		const codes = parts.map((of) => {
			const whole = codesOf(Math.max(1, ...of.map((part) => (part.BYTES_PER_ELEMENT))), n);
			let at = 0;

			for (const part of of.splice(0)) {
				whole.set(part, at);
				at += part.length;
			}
			return whole;
		});

		port.postMessage({ n, codes }, codes.map((whole) => whole.buffer));
	};

	/** @param {any} message */
	const take = async ({ columns: next, end, text, rows, widths }) => {
		if (text !== undefined)
			return takePart(text, rows, widths);
		if (columns)
			giveBack();
		columns = end ? null : next;
		parts = (next ?? []).map(() => []);
		latest = [];
		n = 0;
	};
	let before = Promise.resolve();

	port.onmessage = (/** @type {any} */ { data }) => {
		before = before.then(() => take(data)).catch((why) => port.postMessage({ failed: String(why) }));
	};
}

/** Where packs are sent to be unpacked: to a worker, beside the page; or, where none can be made, to the page itself. @returns {any} */
function unpacker() {
	try {
		return new Worker(URL.createObjectURL(new Blob([`(${unpack})(self)`], { type: 'text/javascript' })));
	} catch {
		const { port1, port2 } = new MessageChannel();

		unpack(port1);
		return port2;
	}
}

/** The packs of the page. They are unpacked while the rest of the page is still being read. */
export class Packs {
	constructor() {
		/** @type {{name: string, columns: [string, number][]}[]} that are being unpacked, in their order */
		this.sent = [];
		/** @type {Record<string, Pack>} */
		this.read = {};
		this.port = unpacker();
		this.after = /** @type {Element} */ (document.currentScript);
		/** All packs by their names. @type {Promise<Record<string, Pack>>} */
		this.all = new Promise((resolve, reject) => {
			const seen = new MutationObserver(() => this.send(false));

			this.port.onmessage = (/** @type {any} */ { data }) => {
				const ended = data.failed || this.take(data);

				if (ended)
					this.port.terminate?.();
				if (data.failed)
					reject(new Error(data.failed));
				else if (ended)
					resolve(this.read);
			};
			this.port.onerror = (/** @type {any} */ why) => reject(new Error(why.message ?? 'the worker failed'));
			seen.observe(document.body, { childList: true });
			addEventListener('DOMContentLoaded', () => {
				seen.disconnect();
				this.send(true);
				this.port.postMessage({ end: true });
			}, { once: true });
		});
	}

	/** Sends the parts that are whole; the last element that was read may not be. @param {boolean} all */
	send(all) {
		for (let element = this.after.nextElementSibling; element && (all || element.nextElementSibling); element = this.after.nextElementSibling) {
			const { columns, pack, rows, widths } = /** @type {HTMLElement} */ (element).dataset, text = element.textContent ?? '';

			if (columns) {
				const list = JSON.parse(text);

				this.sent.push({ name: columns, columns: list });
				this.port.postMessage({ columns: list });
			} else if (pack) {
				this.port.postMessage({ text, rows: Number(rows), widths: (widths ?? '').split(',').map(Number) });
			} else {
				this.after = element;
				continue;
			}
			element.remove(); // its text would stay in memory
		}
	}

	/** True: it was the last one. @param {{n: number, codes: Codes[]}} pack */
	take({ n, codes }) {
		const { name, columns } = this.sent[Object.keys(this.read).length];

		this.read[name] = { n, ...Object.fromEntries(columns.map(([column, delta], c) => [column, new Column(codes[c], delta === 1)])) };
		return Object.keys(this.read).length === this.sent.length;
	}
}

/** The first place in sorted @array, from place @from on, whose value is not less than @value. @param {ArrayLike<number>} array @param {number} value */
export function lowerBound(array, value, from = 0) {
	let to = array.length;

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
