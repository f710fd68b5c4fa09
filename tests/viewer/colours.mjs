// colours.mjs -- how well people tell colours apart, with all kinds of cones and without one of them.

// The colours seen for red, green and blue, in linear light: Machado, Oliveira and Fernandes, 2009, at full severity.
const eyes = {
	'all cones': [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
	deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
	tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** @param {string} hex as #a1b2c3 */
function linear(hex) {
	return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
}

/** CIE L*a*b*, under daylight. */
function lab([r, g, b]) {
	const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
	const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047), y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b), z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);

	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** The least difference (of 1976) between two of the colours, over all kinds of eyes; 2.3 is just visible. @param {string[]} colours */
export function leastDifference(colours) {
	return Object.fromEntries(Object.entries(eyes).map(([name, seen]) => {
		const as = colours.map(linear).map((c) => lab(seen.map((row) => Math.min(1, Math.max(0, row.reduce((sum, x, i) => sum + x * c[i], 0))))));

		return [name, Math.min(...as.flatMap((a, i) => as.slice(0, i).map((other) => Math.hypot(...a.map((v, k) => v - other[k])))))];
	}));
}

/** The ratio of the brighter colour's light to the darker one's (WCAG 2): 1 is equal, 21 is white on black. @param {string} a @param {string} b */
export function contrast(a, b) {
	const [bright, dark] = [a, b].map(linear).map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue).sort((x, y) => y - x);

	return (bright + 0.05) / (dark + 0.05);
}
