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
 * Unpacks the parts of packs that come through @port as { id, deltas, rows, widths, text }; each goes back as { id, codes }. A delta column
 * comes back as its values after 0. This function's text becomes that of a worker, so that it refers to nothing outside.
 * @param {any} port
 */
function unpack(port) {
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

	/** @param {Codes} differences */
	const sum = (differences) => {
		const values = new Float64Array(differences.length);
		let value = 0;

		for (let i = 0; i < differences.length; i++)
			values[i] = value += differences[i] % 2 ? -(differences[i] + 1) / 2 : differences[i] / 2;
		return values;
	};

	/** @param {{id: number, deltas: boolean[], rows: number, widths: number[], text: string}} part */
	const take = async ({ id, deltas, rows, widths, text }) => {
		const stream = new Blob([/** @type {any} */ (bytesOf(text))]).stream().pipeThrough(new DecompressionStream('deflate'));
		const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
		let at = 0;
		const codes = widths.map((width, c) => {
			const column = join(bytes.subarray(at, at += width * rows), width, rows);

			return deltas[c] ? sum(column) : column;
		});

		port.postMessage({ id, codes }, codes.map((column) => column.buffer));
	};
	let before = Promise.resolve();

	port.onmessage = (/** @type {any} */ { data }) => {
		before = before.then(() => take(data)).catch((why) => port.postMessage({ failed: String(why) }));
	};
}

const FEW_EXECUTIONS = 8000; // the page unpacks them before a worker has started

/** Where packs are sent to be unpacked: to a worker, beside the page; or, of few executions and where none can be made, to the page itself. @param {boolean} few @returns {any} */
function unpacker(few) {
	try {
		if (!few)
			return new Worker(URL.createObjectURL(new Blob([`(${unpack})(self)`], { type: 'text/javascript' })));
	} catch { /* the page itself does it */ }
	const { port1, port2 } = new MessageChannel();

	unpack(port1);
	return port2;
}

/** Of one column: its parts, one after the other; those of a delta column after the last value of the part before. @param {Codes[]} parts @param {boolean} delta */
function whole(parts, delta) {
	const widest = parts.reduce((a, b) => (b.BYTES_PER_ELEMENT > a.BYTES_PER_ELEMENT ? b : a), parts[0] ?? (delta ? new Float64Array() : new Uint8Array()));
	const codes = new /** @type {any} */ (widest).constructor(parts.reduce((n, part) => n + part.length, 0));
	let at = 0, last = 0;

	for (const part of parts) {
		codes.set(part, at);
		for (let i = at; delta && i < at + part.length; i++)
			codes[i] += last;
		at += part.length;
		last = delta ? codes[at - 1] : 0;
	}
	return new Column(codes, delta);
}

/** @typedef {{name: string, columns: [string, number][], parts: number[]}} Sent parts: their ids */

/** The packs of the page. Their parts are unpacked while the rest of the page is still being read, by two in turn. */
export class Packs {
	/** @param {number} executions in the page */
	constructor(executions) {
		const few = executions <= FEW_EXECUTIONS;

		this.ports = [unpacker(few), unpacker(few)];
		/** @type {Sent[]} */
		this.sent = [];
		/** @type {Codes[][]} of each part, its columns */
		this.parts = [];
		this.missing = 0;
		this.after = /** @type {Element} */ (document.currentScript);
		/** All packs by their names. @type {Promise<Record<string, Pack>>} */
		this.all = new Promise((resolve, reject) => this.listen(resolve, reject));
	}

	/** @param {(packs: Record<string, Pack>) => void} resolve @param {(why: Error) => void} reject */
	listen(resolve, reject) {
		const seen = new MutationObserver(() => this.send(false));
		let ended = false;
		const end = () => {
			if (!ended || this.missing)
				return;
			for (const port of this.ports)
				port.terminate?.();
			resolve(Object.fromEntries(this.sent.map((pack) => [pack.name, this.packOf(pack)])));
		};

		for (const port of this.ports) {
			port.onmessage = (/** @type {any} */ { data }) => {
				if (data.failed)
					reject(new Error(data.failed));
				this.parts[data.id] = data.codes;
				this.missing--;
				end();
			};
			port.onerror = (/** @type {any} */ why) => reject(new Error(why.message ?? 'the worker failed'));
		}
		seen.observe(document.body, { childList: true });
		addEventListener('DOMContentLoaded', () => {
			seen.disconnect();
			this.send(true);
			ended = true;
			end();
		}, { once: true });
	}

	/** Sends the parts that are whole; the last element that was read may not be. @param {boolean} all */
	send(all) {
		for (let element = this.after.nextElementSibling; element && (all || element.nextElementSibling); element = this.after.nextElementSibling) {
			const { columns, pack, rows, widths } = /** @type {HTMLElement} */ (element).dataset, text = element.textContent ?? '';

			if (columns) {
				this.sent.push({ name: columns, columns: JSON.parse(text), parts: [] });
			} else if (pack) {
				this.sendPart(this.sent[this.sent.length - 1], Number(rows), (widths ?? '').split(',').map(Number), text);
			} else {
				this.after = element;
				continue;
			}
			element.remove(); // its text would stay in memory
		}
	}

	/** @param {Sent} pack @param {number} rows @param {number[]} widths @param {string} text */
	sendPart(pack, rows, widths, text) {
		const id = this.parts.push([]) - 1;

		pack.parts.push(id);
		this.missing++;
		this.ports[id % this.ports.length].postMessage({ id, deltas: pack.columns.map(([, delta]) => delta === 1), rows, widths, text });
	}

	/** @param {Sent} pack @returns {Pack} */
	packOf({ columns, parts }) {
		const n = parts.reduce((sum, id) => sum + (this.parts[id][0]?.length ?? 0), 0);

		return { n, ...Object.fromEntries(columns.map(([column, delta]) => [column, whole(parts.map((id) => this.parts[id].shift() ?? new Uint8Array()), delta === 1)])) };
	}
}

/** The first place in sorted @array, from place @from on, whose value is not less than @value. @param {ArrayLike<number>} array @param {number} value */
export function lowerBound(array, value, from = 0) {
	let first = from, to = array.length;

	while (first < to) {
		const middle = (first + to) >>> 1;

		if (array[middle] < value)
			first = middle + 1;
		else
			to = middle;
	}
	return first;
}

/** By nearest rank, of a sorted array. @param {ArrayLike<number>} sorted @param {number} p */
export function percentile(sorted, p) {
	return sorted.length ? sorted[Math.max(0, Math.ceil(p * sorted.length / 100) - 1)] : NaN;
}
