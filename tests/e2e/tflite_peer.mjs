/*
 * tflite_peer.mjs PACKAGE DIR MODEL.tflite... -- runs models by TensorFlow Lite itself, as WebAssembly from npm (PACKAGE: tfjs-tflite), with
 * random inputs: writes DIR/MODEL.in.K and DIR/MODEL.out.K, the bytes of input and output K, for tflite_peer to compare.
 */
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const [directory, out, ...models] = process.argv.slice(2);
const require = createRequire(import.meta.url);

// A linear congruential generator: the same numbers in every run.
let state = 1;

function randomNumber() {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return state / 2 ** 32;
}

// Bytes get any value; images are reals from 0 to 1.
function fill(data) {
	for (let i = 0; i < data.length; i++) {
		if (data instanceof Float32Array)
			data[i] = randomNumber();
		else if (data instanceof Uint8Array || data instanceof Int8Array)
			data[i] = Math.floor(randomNumber() * 256);
		else
			data[i] = Math.floor(randomNumber() * 8);
	}
}

function write(tensor, path) {
	const data = tensor.data();

	writeFileSync(path, Buffer.from(data.buffer, data.byteOffset, data.byteLength));
}

const wasm = `${directory}/wasm/tflite_web_api_cc_simd`;
const tflite = await require(`${wasm}.js`)({ wasmBinary: readFileSync(`${wasm}.wasm`) });

function run(model) {
	const bytes = readFileSync(model);
	const at = tflite._malloc(bytes.length);
	const to = `${out}/${basename(model, '.tflite')}`;

	tflite.HEAPU8.set(bytes, at);
	const made = tflite.TFLiteWebModelRunner.CreateFromBufferAndOptions(at, bytes.length,
		{ numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 0 });
	if (!made.ok())
		throw new Error(`${model}: ${made.errorMessage()}`);
	const runner = made.value();
	const inputs = runner.GetInputs();
	for (let i = 0; i < inputs.size(); i++) {
		fill(inputs.get(i).data());
		write(inputs.get(i), `${to}.in.${i}`);
	}
	if (!runner.Infer())
		throw new Error(`${model}: TensorFlow Lite does not run it`);
	const outputs = runner.GetOutputs();
	for (let i = 0; i < outputs.size(); i++)
		write(outputs.get(i), `${to}.out.${i}`);
}

for (const model of models)
	run(model);
