// world.js -- what is known of one recording: names at once, packs when they are read.
import { lowerBound } from './data.js';
import { places } from './draw.js';
import { count, quoted, shown } from './format.js';

export class World {
	/** @param {any} overview */
	constructor(overview) {
		this.length = overview.length;
		this.submitted = overview.submitted;
		this.shown = overview.shown;
		this.all = overview.all;
		this.thinned = overview.stride > 1;
		this.ids = overview.ids; // those that were recorded are 1 to this; 0: there are gaps
		this.apps = new Map(overview.apps);
		this.models = new Map(overview.models);
		this.place = new Map(overview.busiest.map((/** @type {number} */ id, /** @type {number} */ place) => [id, place]));
		/** @type {any} */
		this.executions = null;
		/** @type {string[]} */
		this.labels = [];
		/** @type {number[] | null} */
		this.misses = null;
	}

	/** @param {number} id */
	appName(id) {
		return shown(String(this.apps.get(id) ?? 'unknown app'));
	}

	/** @param {number} id */
	modelName(id) {
		return shown(String(this.models.get(id) ?? 'unknown model'));
	}

	/** How many executions were submitted from @from to @to, whether or not they are in the page: at least, and at most, for the overview counts them by bins, and those at its ends have what was submitted before and after it, too. @param {number} from @param {number} to @returns {[number, number]} */
	submittedIn(from, to) {
		const { submitted, length } = this, bins = submitted.length;
		let [least, most] = [0, 0];

		for (let bin = 0; bin < bins; bin++) {
			const began = bin * length / bins, ended = (bin + 1) * length / bins;

			if (began < to && ended > from)
				most += submitted[bin];
			if (bin > 0 && bin < bins - 1 && began >= from && ended <= to)
				least += submitted[bin];
		}
		return [least, most];
	}

	/** Of which executions a chart is, where not all are in the page. */
	part() {
		return this.thinned ? `Of the ${count(this.shown)} of ${count(this.all)} executions that are in this page, among which those that missed a deadline are all: see Method.` : '';
	}

	/** @param {number} id */
	placeOf(id) {
		return this.place.get(id) ?? places;
	}

	/** @param {any} column @param {number} i */
	word(column, i) {
		return this.labels[column.get(i)] ?? '-';
	}

	/** How often @word is in @column. @param {any} column @param {string} word */
	countWord(column, word) {
		const code = 2 * this.labels.indexOf(word) + 1, { codes } = column;
		let n = 0;

		for (let i = 0; code > 0 && i < codes.length; i++)
			n += Number(codes[i] === code);
		return n;
	}

	/** The place of the execution of this id; -1: it is not in the page. @param {number} id */
	indexOf(id) {
		const at = lowerBound(this.executions.id.codes, id);

		return this.executions.id.codes[at] === id ? at : -1;
	}

	/** What there is to say of an execution that is not in the page: was it recorded? @param {string} text its id in an address @param {string} of of which recording @param {string} database */
	absent(text, of, database) {
		const id = /^\d{1,15}$/.test(text) ? Number(text) : 0, explain = `burstscope explain ${id} ${quoted(database)}`;

		if (!id)
			return `${quoted(shown(text))} is not the number of an execution, as in #exec=31.`;
		if (!this.ids)
			return `Execution ${id}${of} is not in this page; if it was recorded: ${explain}`;
		return id > this.ids ? `There is no execution ${id}${of}: the last one is ${this.ids}.` : `Execution ${id}${of} was recorded, but is not among the ${count(this.shown)} of ${count(this.ids)} executions in this page: ${explain}`;
	}

	/** @param {number} i */
	missed(i) {
		return this.executions.miss_word.codes[i] !== 0;
	}

	/** Is it one that percentiles are made of? @param {number} i */
	answered(i) {
		const { quality_word: quality, status_word: status, e2e_ns: e2e } = this.executions;

		return quality.codes[i] === this.complete && status.codes[i] === this.none && e2e.codes[i] !== 0;
	}

	/** All that comes after the overview. @param {Record<string, any>} packs @param {string[]} labels */
	take(packs, labels) {
		const codeOf = (/** @type {string} */ word) => 2 * labels.indexOf(word) + 1; // -1, which no code is: there is no such word

		Object.assign(this, packs);
		this.labels = labels;
		this.complete = codeOf('complete');
		this.none = codeOf('NONE');
	}

	missedInOrder() {
		if (!this.misses) {
			const all = [];

			for (let i = 0; i < this.executions.n; i++)
				if (this.missed(i))
					all.push(i);
			this.misses = all.sort((a, b) => this.executions.began.get(a) - this.executions.began.get(b));
		}
		return [...this.misses];
	}

	/** Of a miss. @param {number} id */
	causeOf(id) {
		const causes = /** @type {any} */ (this).causes, at = lowerBound(causes.execution_id.codes, id);

		return at < causes.n && causes.execution_id.get(at) === id ? this.word(causes.cause_word, at) : '-';
	}
}
