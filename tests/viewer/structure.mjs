// structure.mjs -- a page's picture by its structure: the elements of each section, their order and width, and the
// main content of each cell of a coarse grid over the timeline. Fonts, pixels and themes may differ; places may not.

/** An expression that the page evaluates: the lines of its structure. */
export const structure = `(() => {
	const kinds = { TABLE: () => 'tables', OL: () => 'list', UL: () => 'cards', CANVAS: () => 'picture', P: (e) => e.className || 'text', H2: () => 'h2', H3: () => 'h3', FORM: () => 'form', ARTICLE: () => 'panel' };
	const seen = (e) => e.offsetParent !== null && e.offsetHeight > 0;
	const inside = (e, all) => (kinds[e.tagName] ? seen(e) && all.push(e) : [...e.children].forEach((child) => inside(child, all)), all);
	const described = (section) => {
		const width = section.clientWidth;

		return inside(section, []).map((e) => kinds[e.tagName](e) + (e.tagName === 'CANVAS' ? (e.clientWidth > 0.8 * width ? ' across' : ' beside') : '')).reduce((all, one) => {
			const last = all[all.length - 1];
			if (last && last[0] === one)
				last[1]++;
			else
				all.push([one, 1]);
			return all;
		}, []).map(([one, n]) => (n > 1 && one.startsWith('picture') ? one + ' (' + n + ')' : one)).join(', ');
	};
	const named = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
	const palette = [...[1, 2, 3, 4, 5, 6, 7].map((place) => [named('app-' + place), String(place)]), [named('bad'), 'x']].map(([hex, sign]) => [[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)), sign]);
	const signOf = (data, at) => {
		if (data[at + 3] < 200)
			return '';
		const near = palette.find(([rgb]) => rgb.every((v, i) => Math.abs(v - data[at + i]) < 12));
		return near ? near[1] : '';
	};
	const grid = (timeline) => {
		const c = timeline.canvas, margin = timeline.margin(), context = c.getContext('2d'), heights = [...timeline.lanes.map(() => 26), ...timeline.apps.map(() => 38)];
		let y = 20;

		return heights.map((height) => {
			const cells = Array.from({ length: 24 }, (_, i) => {
				const from = Math.round(margin + i / 24 * (c.width - margin)), width = Math.floor((c.width - margin) / 24), { data } = context.getImageData(from, y, width, height), counts = {};
				for (let at = 0; at < data.length; at += 4) {
					const sign = signOf(data, at);
					if (sign)
						counts[sign] = (counts[sign] ?? 0) + 1;
				}
				return Object.entries(counts).sort(([, n], [, m]) => m - n)[0]?.[0] ?? '.';
			});
			y += height;
			return cells.join('');
		});
	};

	return [...[...document.querySelectorAll('main > section:not([hidden])')].map((s) => s.id + ': ' + described(s)), ...grid(burstscope.timeline)];
})()`;
