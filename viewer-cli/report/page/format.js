// format.js -- numbers as burstscope's tables print them: one unit a column, the largest that keeps the smallest number's digits.

const durations = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
const sizes = [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10], ['bytes', 1]];
const longNumber = 1e6;

/** @typedef {{unit: string, of: number, decimals: number}} Scale decimals below 0: as it is */
/** @typedef {{least: number, most: number, any: boolean, real: boolean}} Extent */

/** @param {unknown[]} values @returns {Extent} */
export function extentOf(values) {
	const e = { least: 0, most: 0, any: false, real: false };

	for (const value of values) {
		if (typeof value !== 'number')
			continue;
		e.real ||= !Number.isInteger(value);
		const size = Math.abs(value);
		if (!Number.isFinite(size) || size === 0)
			continue;
		e.least = e.any ? Math.min(e.least, size) : size;
		e.most = Math.max(e.most, size);
		e.any = true;
	}
	return e;
}

/** The range of two columns together. @param {Extent} a @param {Extent} b @returns {Extent} */
export function joined(a, b) {
	if (!a.any || !b.any)
		return { ...(a.any ? a : b), real: a.real };
	return { ...a, least: Math.min(a.least, b.least), most: Math.max(a.most, b.most) };
}

const conditions = /^(fair|cold|warm|burst|sync)_/;

/** Are the columns the same figure under two conditions, and so in one unit: bsv_are_compared in viewer-cli/render/scale.c? @param {string} a @param {string} b */
export function areCompared(a, b) {
	return a !== b && a.replace(conditions, '') === b.replace(conditions, '');
}

/** @param {[string, number]} unit @param {Extent} e */
function decimalsOf(unit, e) {
	const most = e.most / unit[1], enough = most < 1000 ? 3 : most < 10000 ? 2 : 1;
	let n = 0;

	if (unit[1] === 1 && unit[0])
		return 0;
	for (let size = e.least / unit[1]; size < 100 && n < enough; size *= 10)
		n++;
	return n;
}

/** @param {[string, number][]} units @param {Extent} e @returns {Scale} */
function scaleBy(units, e) {
	let i = 0;

	while (units[i][1] > 1 && e.most < units[i][1])
		i++;
	while (units[i][1] > 1 && e.least / units[i][1] < 0.001 && e.most / units[i + 1][1] < longNumber)
		i++;
	return { unit: units[i][0], of: units[i][1], decimals: decimalsOf(units[i], e) };
}

/** @param {Extent} e @param {Extent} all @returns {Scale} */
function scaleDurations(e, all) {
	const together = scaleBy(/** @type {[string, number][]} */ (durations), all);

	if (!e.any)
		return { ...together, decimals: 0 };
	if (e.least / together.of < 0.01 || e.most / together.of >= longNumber)
		return scaleBy(/** @type {[string, number][]} */ (durations), e);
	return { ...together, decimals: decimalsOf([together.unit, together.of], e) };
}

/**
 * How a column is printed. @param {string | null} kind its class @param {Extent} e @param {Extent} all of all columns of durations
 * @returns {Scale}
 */
export function scaleOf(kind, e, all) {
	if (kind === 'duration')
		return e.any || all.any ? scaleDurations(e, all) : { unit: 'ns', of: 1, decimals: 0 };
	if (kind === 'time')
		return e.most >= 10e9 ? { unit: 's', of: 1e9, decimals: 6 } : { unit: 'ms', of: 1e6, decimals: 3 };
	if (kind === 'bytes')
		return e.any ? scaleBy(/** @type {[string, number][]} */ (sizes), e) : { unit: 'bytes', of: 1, decimals: 0 };
	if (kind === 'percent')
		return { unit: '%', of: 1, decimals: e.real ? (e.any && e.least < 0.1 ? 3 : 1) : 0 };
	if (kind === 'ratio' && e.real)
		return { unit: '', of: 1, decimals: 3 };
	if (!kind && e.real)
		return { unit: '', of: 1, decimals: e.any ? decimalsOf(['', 1], e) : 0 };
	return { unit: '', of: 1, decimals: -1 };
}

/** @param {string} digits */
function grouped(digits) {
	return digits.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** @param {number} value @param {Scale} scale */
export function scaled(value, scale) {
	const size = value / scale.of;

	if (scale.decimals < 0)
		return Number.isInteger(value) ? grouped(String(value)) : value.toPrecision(6);
	const least = 10 ** -scale.decimals;
	if (value !== 0 && Math.abs(size) < least / 2)
		return (value > 0 ? '<' : '>-') + least.toFixed(scale.decimals);
	const [whole, part] = size.toFixed(scale.decimals).split('.');
	return grouped(whole) + (part ? '.' + part : '');
}

const ROUNDS_UP = 0.99995; // part of a power of ten from which on four digits round up to it

/** Decimals that leave four digits, no more than three. @param {number} size */
function fourDigits(size) {
	return [10, 100, 1000].filter((most) => size < most * ROUNDS_UP).length;
}

/** One duration by itself, with four digits: bsv_duration in viewer-cli/base/numbers.c. @param {number} ns */
export function duration(ns) {
	if (!Number.isFinite(ns))
		return '-';
	const size = Math.abs(ns), [unit, of] = durations.find((u) => size >= Number(u[1]) * ROUNDS_UP) ?? ['ns', 1];
	return Number(of) === 1 ? `${ns} ns` : `${scaled(ns, { unit: String(unit), of: Number(of), decimals: fourDigits(size / Number(of)) })} ${unit}`;
}

/** A time of four digits that is no shorter: less would not be what was replayed. @param {number} ns */
export function noShorter(ns) {
	let step = 1;

	while (ns / step >= 10000)
		step *= 10;
	return Math.ceil(ns / step) * step;
}

/** From when to when in the recording, in one unit. @param {number} first @param {number | null} last */
export function span(first, last) {
	const end = last ?? first, [unit, of] = end >= 1e9 ? ['s', 1e9] : ['ms', 1e6];

	return end === first ? `at ${duration(first)}` : `${(first / of).toFixed(3)} to ${(end / of).toFixed(3)} ${unit}`;
}

/** A time since the recording began, to the microsecond. @param {number} ns */
export function time(ns) {
	if (!Number.isFinite(ns))
		return '-';
	return ns >= 10e9 ? `${(ns / 1e9).toFixed(6)} s` : `${(ns / 1e6).toFixed(3)} ms`;
}

/** "1.2s" in ns. @param {string} text */
export function readTime(text) {
	const [, number, unit] = /^(-?[\d.]+)(s|ms|us|ns)$/.exec(text) ?? [];

	return Number(number) * ({ s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[unit] ?? NaN);
}

/** @param {number} n @returns {string} */
export function count(n) {
	return grouped(String(n));
}

const NAME = 200, WORD = 80, SENTENCE = 1200;

/** A stranger's text: no longer than fits, and what a screen would obey instead of show is written out. @param {string} text */
export function shown(text, most = NAME) {
	const cut = text.length > most ? `${text.slice(0, most)}…` : text;

	// eslint-disable-next-line no-control-regex
	return cut.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

/** A sentence of burstscope's, which may have strangers' names in it: whole, but for names that are longer than anybody reads. @param {string} text */
export function sentence(text) {
	return shown(text.slice(0, 100 * SENTENCE).replace(/\S+/g, (word) => (word.length > WORD ? `${word.slice(0, WORD)}…` : word)), SENTENCE);
}

/** A word of a command for a shell. @param {string} word */
export function quoted(word) {
	return `'${word.replaceAll("'", "'\\''")}'`;
}

/** A column's name for people. @param {string} name */
export function said(name) {
	return name.replace(/(_ns|_percent|_bytes)$/, '').replace(/^n_/, '').replaceAll('_', ' ');
}
