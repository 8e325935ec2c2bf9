/** Draws SVG as PNG in a separate thread: a picture takes 100 ms of the processor. */
import { readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { initWasm, Resvg } from '@resvg/resvg-wasm';

const port = parentPort;
if (!port) throw new Error('This file runs as a worker.');

const LIBRARY_FILE = import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm');
const FONT_FILE = import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');
await initWasm(await readFile(new URL(LIBRARY_FILE)));
const fontBuffers = [await readFile(new URL(FONT_FILE))];
const font = { fontBuffers, defaultFontFamily: 'DejaVu Sans', loadSystemFonts: false };

port.on('message', (svg: string) => {
  // `postMessage` of a thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage('started');
  const drawn = new Resvg(svg, { font });
  const picture = drawn.render();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(picture.asPng());
  picture.free();
  drawn.free();
});
