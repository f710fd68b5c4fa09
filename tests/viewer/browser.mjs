// browser.mjs -- a headless Chromium, driven over its DevTools protocol through a pipe: it opens no port, and ends
// with this process.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Browser {
	constructor(program = process.env.CHROMIUM ?? 'chromium') {
		this.home = mkdtempSync(join(tmpdir(), 'nnb_page.'));
		this.child = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage',
			'--no-first-run', '--disable-background-networking', `--user-data-dir=${this.home}`, '--remote-debugging-pipe'],
		{ detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: this.home } });
		this.calls = new Map();
		this.events = [];
		this.next = 1;
		let text = '';

		this.ended = new Promise((resolve) => this.child.on('exit', resolve));
		this.child.on('error', (why) => { for (const call of this.calls.values()) call.reject(why); });
		this.child.stdio[4].setEncoding('utf8');
		this.child.stdio[4].on('data', (part) => {
			const messages = (text + part).split('\0');

			text = messages.pop();
			messages.forEach((m) => this.take(JSON.parse(m)));
		});
	}

	take(message) {
		const call = this.calls.get(message.id);

		if (!call) {
			this.events.push(message);
			return;
		}
		this.calls.delete(message.id);
		if (message.error)
			call.reject(new Error(message.error.message));
		else
			call.resolve(message.result);
	}

	send(method, params = {}) {
		const id = this.next++;

		this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
		return new Promise((resolve, reject) => this.calls.set(id, { resolve, reject }));
	}

	/** Opens a page of @width by @height, and waits until it is ready; @before is a script that runs before the page's own. */
	async open(url, { width = 1280, height = 800, dark = false, motion = 'reduce', before = '', ready = "document.documentElement?.dataset.state === 'ready'" } = {}) {
		await this.attach();
		await this.send('Page.navigate', { url: 'about:blank' }); // ends the scripts of the page before
		this.events = [];
		await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
		await this.send('Emulation.setEmulatedMedia', { features: [
			{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }, { name: 'prefers-reduced-motion', value: motion }] });
		const { identifier } = await this.send('Page.addScriptToEvaluateOnNewDocument', { source: before });

		await this.send('Page.navigate', { url });
		await this.until(ready);
		await this.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
	}

	/** Connects to the one tab: a new tab for each page would take longer than the page. */
	async attach() {
		if (this.session)
			return;
		const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });

		this.session = (await this.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
		await Promise.all(['Page', 'Runtime', 'Log', 'Network'].map((domain) => this.send(`${domain}.enable`)));
	}

	async value(expression) {
		const r = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });

		if (r.exceptionDetails)
			throw new Error(`${expression}: ${r.exceptionDetails.exception?.description ?? r.exceptionDetails.text}`);
		return r.result.value;
	}

	async until(expression, ms = 20000) {
		for (const end = Date.now() + ms; !(await this.value(expression));) {
			if (Date.now() > end)
				throw new Error(`it never came true: ${expression}`);
			await new Promise((r) => setTimeout(r, 20));
		}
	}

	async key(key) {
		await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key.length === 1 ? key : key === 'Enter' ? '\r' : undefined, windowsVirtualKeyCode: key === 'Enter' ? 13 : 0 });
		await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key });
	}

	async mouse(type, x, y, more = {}) {
		await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount: 1, ...more });
	}

	async picture(full = false) {
		const { cssContentSize } = await this.send('Page.getLayoutMetrics');
		const clip = full ? { x: 0, y: 0, width: cssContentSize.width, height: Math.min(16000, cssContentSize.height), scale: 1 } : undefined;

		return Buffer.from((await this.send('Page.captureScreenshot', { clip, captureBeyondViewport: full })).data, 'base64');
	}

	/** The faults of a page: requests beside its own file, errors, violations of its policy. */
	complaints() {
		return this.events.filter((e) => e.sessionId === this.session).flatMap(({ method, params }) => {
			if (method === 'Network.requestWillBeSent' && !/^(file|blob|data):/.test(params.request.url))
				return [`it asked for ${params.request.url}`];
			if (method === 'Runtime.exceptionThrown')
				return [params.exceptionDetails.exception?.description ?? params.exceptionDetails.text];
			if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type))
				return [params.args.map((a) => a.value ?? a.description).join(' ')];
			if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level))
				return [params.entry.text];
			return [];
		});
	}

	async close() {
		this.session = undefined;
		const patience = new Promise((r) => setTimeout(r, 5000).unref());

		this.send('Browser.close').catch(() => {});
		await Promise.race([this.ended, patience]);
		try {
			process.kill(-this.child.pid, 'SIGKILL'); // its helper processes, too
		} catch { /* they have ended */ }
		await this.ended;
		rmSync(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
	}
}
