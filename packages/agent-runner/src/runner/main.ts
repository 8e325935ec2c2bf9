import { PROTOCOL_VERSION, type ReadyMessage } from '../protocol.js';
import { openStdio, readLines } from '../stdio.js';
import { rehearse } from './rehearse.js';
import { serveRun } from './serve-run.js';

// Only this file runs in a runner's process. It executes no code of a model or a renter.
const stdio = openStdio();
const lines = readLines(stdio);
const write = (line: string): Promise<void> => stdio.write(`${line}\n`);

await rehearse();
const ready: ReadyMessage = { type: 'ready', protocol: PROTOCOL_VERSION, entry: 'runner' };
await write(JSON.stringify(ready));
stdio.exit(await serveRun(lines, write));
