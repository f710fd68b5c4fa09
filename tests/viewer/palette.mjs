// palette.mjs PAGE.CSS -- the colours of apps on each paper of the page (light, dark, printed): each is visible on its
// paper, and differs from every other one, from the grey of other apps and from the red of a missed deadline, also for
// people who lack a kind of cone.
import { readFileSync } from 'node:fs';
import { contrast, leastDifference } from './colours.mjs';

const LEAST_DIFFERENCE = 20, LEAST_CONTRAST = 3; // 2.3 is just seen; 3 is what WCAG 2 asks of pictures (1.4.11)

/** The faults of the colours on @paper. @param {{paper: string, bad: string, apps: string[]}} theme */
function faultsOf({ paper, bad, apps }) {
	const alike = Object.entries(leastDifference([...apps, bad])).filter(([, least]) => least < LEAST_DIFFERENCE).map(([eyes, least]) => `${eyes}: two differ by ${least.toFixed(1)}`);
	const faint = apps.filter((app) => contrast(app, paper) < LEAST_CONTRAST).map((app) => `${app} on ${paper}: contrast ${contrast(app, paper).toFixed(1)}`);

	return [...alike, ...faint];
}

const themes = readFileSync(process.argv[2], 'utf8').split(':root').slice(1).map((part) => Object.fromEntries([...part.slice(0, part.indexOf('}')).matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, hex]) => [name, hex])))
	.map((colours) => ({ paper: colours.paper, bad: colours.bad, apps: Object.keys(colours).filter((name) => name.startsWith('app-')).map((name) => colours[name]) }));
const faults = themes.flatMap((theme, i) => faultsOf(theme).map((fault) => `theme ${i}: ${fault}`));

if (themes.length !== 3 || themes.some(({ apps }) => apps.length !== 8) || JSON.stringify(themes[0]) !== JSON.stringify(themes[2]))
	faults.push('there are not the three themes, light, dark and printed as light, of eight colours each');
// These checks found faults: before this test, two of the colours were hardly visible on dark paper, and five on light
// one.
const before = ['#217cf5', '#d6c301', '#a2009b', '#1fcaba', '#c98a31', '#b7a7fd', '#6114fb', '#6d6d71'];

if (faultsOf({ paper: '#0d1117', bad: '#ff7b72', apps: before }).length < 2 || faultsOf({ paper: '#ffffff', bad: '#b42318', apps: ['#e69f00', '#b8a800'] }).every((fault) => !fault.includes('two differ')))
	faults.push('colours that are faint or alike are not noticed');
for (const fault of faults)
	console.log(`palette.mjs: ${fault}`);
process.exitCode = faults.length ? 1 : 0;
