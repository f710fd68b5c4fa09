// draw.js -- colours, canvases that fit their screen, axes of time.
import { time } from './format.js';

export const places = 7;

const ofOthers = 'app-others', ofApps = Array.from({ length: places }, (_, place) => `app-${place + 1}`);

/** The colour of an app on the page's paper, as page.css has it. @param {number} place in the legend; -1, or beyond the last: one of the others */
export function colourOf(place) {
	return ink(ofApps[place] ?? ofOthers);
}

/** The same for an element, which changes with the paper. @param {number} place */
export function swatchOf(place) {
	return `var(--${ofApps[place] ?? ofOthers})`;
}

const ofPhases = [3, 0, 1, -1, 2, 4, 5, 6, 0, 3, 1, -1]; // neighbours differ

/** @param {number} phase its place in their order */
export function placeOfPhase(phase) {
	return ofPhases[phase];
}

/** @type {Map<string, string>} Asking for a style costs more than drawing with it. */
const inks = new Map();

/** Calls @draw when the colours of the page have become others: by its theme, or on paper, which is always light. @param {() => void} draw */
export function onOtherColours(draw) {
	for (const media of ['(prefers-color-scheme: dark)', 'print'])
		matchMedia(media).addEventListener('change', draw);
}

onOtherColours(() => inks.clear());

/** A colour of the page. @param {string} name */
export function ink(name) {
	let colour = inks.get(name);

	if (!colour) {
		colour = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
		inks.set(name, colour);
	}
	return colour;
}

/** Makes @canvas as sharp as its screen. @param {HTMLCanvasElement} canvas @param {number} height in CSS pixels */
export function fit(canvas, height) {
	const ratio = globalThis.devicePixelRatio || 1, width = Math.max(1, canvas.clientWidth);
	const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));

	canvas.style.height = `${height}px`;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	context.font = '12px system-ui, sans-serif';
	return { context, width, height };
}

/** A round step, so that about @most of them are between @from and @to. @param {number} from @param {number} to @param {number} most */
export function stepOf(from, to, most) {
	const least = (to - from) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(least));

	return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= least) ?? 10 * power;
}

/** A time on an axis, with the digits that tell it from its neighbours. @param {number} t @param {number} step both in ns */
function tick(t, step) {
	const text = time(t), whole = t >= 10e9 ? 1e9 : 1e6, decimals = step >= whole ? 0 : Math.min(t >= 10e9 ? 6 : 3, Math.ceil(Math.log10(whole / step) - 1e-9));

	return text.replace(/\.\d+/, (part) => (decimals ? part.slice(0, decimals + 1) : ''));
}

/** @param {CanvasRenderingContext2D} context @param {{from: number, to: number, x: number, width: number, y: number, bottom: number}} at */
export function drawAxis(context, at) {
	const step = stepOf(at.from, at.to, at.width / 130);

	context.fillStyle = ink('faint');
	context.strokeStyle = ink('line');
	context.textBaseline = 'alphabetic';
	context.textAlign = 'left';
	context.beginPath();
	for (let t = Math.ceil(at.from / step) * step; t <= at.to; t += step) {
		const x = at.x + (t - at.from) / (at.to - at.from) * at.width;

		context.moveTo(x, at.y + 4);
		context.lineTo(x, at.bottom);
		const text = tick(t, step);

		if (x + 3 + context.measureText(text).width <= at.x + at.width + 8)
			context.fillText(text, x + 3, at.y + 13);
	}
	context.stroke();
}

/** Stripes: here something was not recorded. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} width @param {number} height */
export function hatch(context, x, y, width, height) {
	context.save();
	context.beginPath();
	context.rect(x, y, Math.max(1, width), height);
	context.clip();
	context.strokeStyle = ink('hatch');
	context.beginPath();
	for (let at = x - height; at < x + width + 8; at += 6) {
		context.moveTo(at, y + height);
		context.lineTo(at + height, y);
	}
	context.stroke();
	context.restore();
}
