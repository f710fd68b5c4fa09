// tables.js -- answers of commands as tables. Text from a recording becomes text nodes, never HTML.
import { explained } from './columns.js';
import { swatchOf } from './draw.js';
import { areCompared, count, duration, extentOf, joined, quoted, said, scaled, scaleOf, sentence } from './format.js';

/** @param {string} tag @param {Record<string, string>} [attributes] @param {...(Node | string)} children @returns {HTMLElement} */
export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

const FEW = 12; // rows of a folded table: as many as the style shows
export const MOST_ROWS = 500; // of each part of an answer: ROWS_MOST of viewer-cli/report/make.c
const ALONE = 6; // more columns of a single row are read as a paragraph

/** @type {[MediaQueryList, number][]} The columns that there is room for, by the screen or the paper. */
const rooms = [[matchMedia('(max-width: 40rem)'), 3], [matchMedia('print'), 7], [matchMedia('(max-width: 90rem)'), 13]];

const numeric = new Set(['duration', 'time', 'bytes', 'percent', 'ratio', 'count', 'number', 'id', '0/1']);

/** @type {Map<string, string>} What each cause is. */
const causesMean = new Map();

/** @param {string[][]} causes names and what they mean */
export function learnCauses(causes) {
	causes.forEach(([name, means]) => causesMean.set(name, means));
}

/** Of a cell that says where something is in the recording. @param {string} name @param {string | null} kind @param {unknown} value */
function linkOf(name, kind, value) {
	if (/^(id|execution|execution_id|(slowest|worst|latest|victim|holder|culprit_execution|blocker|chosen|passed_over)(_id)?)$/.test(name) && typeof value === 'number')
		return `#exec=${value}`;
	if (kind === 'time' && typeof value === 'number')
		return `#t=${Math.max(0, value / 1e9 - 0.005).toFixed(6)}s..${Math.max(0.02, value / 1e9 + 0.02).toFixed(6)}s`;
	return null;
}

/** @param {any} column @param {unknown} value @param {import('./format.js').Scale} scale */
function cellOf(column, value, scale) {
	const number = numeric.has(column.class) || typeof value === 'number';
	const text = value === null || value === undefined ? '-' : typeof value === 'number' ? scaled(value, scale) : sentence(String(value));
	const link = linkOf(column.name, column.class, value);
	const cell = make('td', number ? { class: 'number' } : {});

	cell.append(link ? make('a', { href: link }, text) : text);
	const means = /^(cause|most_by)$/.test(column.name) ? causesMean.get(String(value)) : undefined;

	if (means)
		cell.title = means;
	cell.dataset.value = String(value);
	return cell;
}

/** Sorts the rows of @body by a column. @param {HTMLElement} body @param {any[]} rows @param {HTMLElement[]} elements @param {string} name @param {number} way */
function sortBy(body, rows, elements, name, way) {
	const order = rows.map((_, i) => i).sort((a, b) => {
		const x = rows[a][name], y = rows[b][name];

		if (x === y || (x == null && y == null))
			return a - b;
		if (x == null || y == null)
			return x == null ? 1 : -1;
		return (x < y ? -1 : 1) * way;
	});
	body.prepend(...order.map((i) => elements[i]));
}

/** Long tables show their first rows, until asked for all. @param {HTMLElement} body @param {number} n */
function fold(body, n) {
	const button = make('button', { type: 'button' }, `Show all ${count(n)} rows`);

	body.classList.add('folded');
	button.addEventListener('click', () => body.classList.remove('folded'));
	body.append(make('tr', { class: 'unfold' }, make('td', { colspan: '99' }, button)));
}

/** A table as people read it, its columns by tabs: what a spreadsheet and a mail take. @param {HTMLTableElement} table */
function textOf(table) {
	const lines = [...table.rows].filter((row) => !row.classList.contains('unfold')).map((row) => [...row.cells].map((cell) => (cell.textContent ?? '').replaceAll('\u202f', '')).join('\t'));

	return `${table.caption?.firstChild?.textContent ?? ''}\n${lines.join('\n')}\n`;
}

/** Without a clipboard (its permission is refused), the text is selected in a box of its own instead. @param {string} text */
async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const box = /** @type {HTMLTextAreaElement} */ (make('textarea', { 'aria-label': 'to be copied' }));

		box.value = text;
		document.body.append(box);
		box.select();
		const copied = document.execCommand('copy');
		box.remove();
		return copied;
	}
}

/** A button that copies what @text returns. @param {string} what for those who hear it @param {() => string} text */
export function copyButton(what, text) {
	const button = make('button', { type: 'button', class: 'copy', 'aria-label': `Copy as text: ${what}` }, 'Copy');

	button.addEventListener('click', async () => {
		button.textContent = await copy(text()) ? 'Copied' : 'Not copied';
		setTimeout(() => { button.textContent = 'Copy'; }, 1500);
	});
	return button;
}

/** A name with a capital. @param {string} title */
export function titled(title) {
	return title.charAt(0).toUpperCase() + title.slice(1);
}

/** Where a table has no room for its columns, the style makes a paragraph of each row. @param {HTMLElement} table */
function stack(table) {
	const columns = Number(table.dataset.columns);

	table.classList.toggle('stacked', table.classList.contains('alone') || rooms.some(([media, room]) => media.matches && columns > room));
}

for (const [media] of rooms)
	media.addEventListener('change', () => document.querySelectorAll('table[data-columns]').forEach((table) => stack(/** @type {HTMLElement} */ (table))));

/** In a paragraph, each figure has its column's name before it; for those who hear the page, it stays a table. @param {HTMLElement} table @param {HTMLElement[]} rows @param {string[]} names of columns, with units */
function nameCells(table, rows, names) {
	table.dataset.columns = String(names.length);
	table.classList.toggle('alone', rows.length === 1 && names.length > ALONE);
	stack(table);
	table.setAttribute('role', 'table');
	for (const part of table.querySelectorAll('thead, tbody'))
		part.setAttribute('role', 'rowgroup');
	for (const cell of table.querySelectorAll('th'))
		cell.setAttribute('role', 'columnheader');
	for (const row of table.querySelectorAll('tr'))
		row.setAttribute('role', 'row');
	for (const row of rows)
		for (const [i, cell] of [...row.children].entries()) {
			cell.setAttribute('role', 'cell');
			/** @type {HTMLElement} */ (cell).dataset.column = names[i];
		}
}

/** What is above a column. @param {any} column */
function headOf(column) {
	return column.head ?? said(column.name);
}

/** @param {string} title @param {any[]} columns head: what is above it, if not its name @param {any[]} rows */
export function tableOf(title, columns, rows) {
	const extents = columns.map((c) => extentOf(rows.map((r) => r[c.name])));
	const all = extentOf(rows.flatMap((r) => columns.filter((c) => c.class === 'duration').map((c) => r[c.name])));
	const scales = columns.map((c, i) => scaleOf(c.class, columns.reduce((e, other, k) => (areCompared(c.name, other.name) ? joined(e, extents[k]) : e), extents[i]), all));
	const body = make('tbody');
	const elements = rows.map((r) => make('tr', {}, ...columns.map((c, i) => cellOf(c, r[c.name], scales[i]))));
	const heads = columns.map((c, i) => {
		const button = make('button', { type: 'button', title: c.means ? `${headOf(c)}: ${c.means}; click to sort by it` : 'sort by this' }, headOf(c));
		const head = make('th', numeric.has(c.class) ? { class: 'number', scope: 'col' } : { scope: 'col' }, button);
		let way = -1;

		if (scales[i].unit)
			head.append(' ', make('span', { class: 'unit' }, scales[i].unit));
		button.addEventListener('click', () => {
			sortBy(body, rows, elements, c.name, way);
			for (const other of heads)
				other.removeAttribute('aria-sort');
			head.setAttribute('aria-sort', way < 0 ? 'descending' : 'ascending');
			way = -way;
		});
		return head;
	});

	body.append(...elements);
	if (rows.length > FEW + 3)
		fold(body, rows.length);
	const table = /** @type {HTMLTableElement} */ (make('table', {}, make('caption', {}, make('span', {}, titled(title))), make('thead', {}, make('tr', {}, ...heads)), body));

	if (columns.length > rooms[0][1])
		nameCells(table, elements, columns.map((c, i) => headOf(c) + (scales[i].unit ? ` ${scales[i].unit}` : '')));
	table.caption?.append(' ', copyButton(title, () => textOf(table)));
	return make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, table);
}

/** In a line, what the columns mean whose names do not say it; and what a row is without a miss. @param {any[]} columns of explained @param {any[]} rows @returns {HTMLElement[]} */
function columnsMean(columns, rows) {
	const lines = columns.filter((c) => c.means).map((c) => `${said(c.name)}: ${c.means}`);

	if (columns.some((c) => c.name === 'cause') && rows.some((row) => row.n_misses === 0))
		lines.push('a row with 0 misses: it made executions later, but was the primary cause of no missed deadline');
	const causes = columns.some((c) => c.name === 'cause') ? [' What each cause is: ', make('a', { href: '#causes' }, 'Method'), '.'] : [];

	return lines.length + causes.length ? [make('p', { class: 'note' }, lines.length ? titled(`${lines.join('; ')}.`) : '', ...causes)] : [];
}

/** What the colours stand for. @param {{name: string, place: number}[]} groups */
export function keyOf(groups) {
	return make('p', { class: 'note' }, ...groups.flatMap((g) => {
		const swatch = make('span', { class: 'bar-key' });

		swatch.style.background = swatchOf(g.place);
		return [swatch, `${g.name}  `];
	}));
}

/** @param {any} rule */
function verdictOf(rule) {
	const [word, colour] = rule.pass === false ? ['FAIL', 'fail'] : rule.pass !== true ? ['cannot tell', 'unsure'] : rule.judged === false ? ['nothing to judge', 'idle'] : ['pass', 'pass'];

	return make('li', { class: `verdict ${colour}` },
		make('strong', {}, word), ` ${said(rule.name)}`, make('br'), make('span', { class: 'note' }, sentence(rule.why ?? '')));
}

/** @param {any} answer */
export function verdictsOf(answer) {
	const rules = answer?.verdict?.rules ?? (answer?.verdict ? [answer.verdict] : []);

	return make('ul', { class: 'verdicts', 'aria-label': 'verdicts' }, ...rules.map(verdictOf));
}

/** What is said of a command that has no row. @type {Record<string, string>} */
const nothing = { latency: 'No execution was recorded from end to end.', fairness: 'No app was seen with work for a lane.', priority: 'Nothing was seen to wait for less urgent work of its app.', starvation: 'Nothing was seen to wait for too long.',
	preemptions: 'No preemption was recorded.', slots: 'No burst was recorded.', memory: 'No pool of memory was recorded.' };

/** A figure of burstscope check, whose unit is its row's: "4.2 ms", "3 %", "12". @param {any} row @param {unknown} value */
function ruleFigure(row, value) {
	if (typeof value !== 'number')
		return null;
	if (row.unit === 'ns')
		return duration(value);
	return scaled(value, scaleOf(row.unit === '%' ? 'percent' : 'count', extentOf([value]), extentOf([value]))) + (row.unit ? ` ${row.unit}` : '');
}

const ruleColumns = [{ name: 'result', class: 'label' }, { name: 'rule', class: 'text' }, { name: 'measured', class: 'text' }, { name: 'limit', class: 'text' },
	{ name: 'n', class: 'count', head: 'executions judged' }, { name: 'why', class: 'text' }];

/** What a figure of the rule is of, where neither its unit nor the rule says it: as in viewer-cli/commands/check.c. @type {[RegExp, string, string][]} */
const ruleNouns = [[/^starvation/, ' wait', ' waits'], [/^at most/, ' miss', ' misses']];

/** @param {any} row */
function ruleMeasured(row) {
	const figure = ruleFigure(row, row.figure), [, one, many] = ruleNouns.find(([rule]) => rule.test(row.rule)) ?? [];

	return figure && figure + ((row.figure === 1 ? one : many) ?? '');
}

/** The answer of burstscope check, as its table has it. @param {any} answer */
function rulesForPeople(answer) {
	return { ...answer, columns: ruleColumns, rows: answer.rows.map((/** @type {any} */ row) => ({ ...row, measured: ruleMeasured(row), limit: ruleFigure(row, row.bound) })) };
}

/** Everything that @answer has, into @place. @param {HTMLElement} place @param {any} answer @param {string} title @param {Set<string>} [without] names of parts */
export function fill(place, answer, title, without = new Set()) {
	if (!answer)
		return;
	if (answer.error) {
		place.append(make('p', { class: 'note' }, `${title}: ${answer.error}`));
		return;
	}
	if (answer.verdict)
		place.append(verdictsOf(answer));
	const put = (/** @type {string} */ caption, /** @type {any} */ { name, columns, rows }) => {
		const told = explained(answer.command, name ?? '', columns);

		place.append(tableOf(caption, told, rows), ...columnsMean(told, rows));
		if (rows.length === MOST_ROWS)
			place.append(make('p', { class: 'note' }, `The first ${MOST_ROWS} rows; all of them: `, make('code', {}, `burstscope ${answer.command} ${quoted(answer.input ?? '')}`)));
	};

	if (answer.rows?.length && !without.has(answer.command))
		put(title, answer.command === 'check' ? rulesForPeople(answer) : answer);
	if (nothing[answer.command] && !answer.rows?.length && !(answer.parts ?? []).some((/** @type {any} */ part) => part.rows.length))
		place.append(make('p', {}, nothing[answer.command]));
	for (const part of answer.parts ?? [])
		if (part.rows.length && !without.has(part.name))
			put(part.title ?? part.name, part);
	for (const note of answer.notes ?? [])
		place.append(make('p', { class: 'note' }, note));
}
