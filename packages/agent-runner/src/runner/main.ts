import { type DoneMessage, PROTOCOL_VERSION, type ReadyMessage, type RunMessage } from '../protocol.js';
import { connectHost, HostGone } from './host.js';
import { runAgent } from './run-agent.js';
import { openStdio, readLines } from '../stdio.js';

// The only thing that runs in a runner's process: it executes no code that anybody sent.
const stdio = openStdio();
const lines = readLines(stdio);
const write = (line: string): Promise<void> => stdio.write(`${line}\n`);

const ready: ReadyMessage = { type: 'ready', protocol: PROTOCOL_VERSION, entry: 'runner' };
await write(JSON.stringify(ready));

const first = await lines.next();
if (first.done === true) {
  // Never used: the pool that kept it warm is gone.
  stdio.exit(0);
} else {
  const { run, protocol } = JSON.parse(first.value) as RunMessage;
  let done: DoneMessage;
  try {
    done =
      protocol === PROTOCOL_VERSION
        ? await runAgent(run, connectHost(lines, write))
        : { type: 'done', status: 'failed', output: 'The agent was asked in a version it does not speak.' };
  } catch (error) {
    if (error instanceof HostGone) stdio.exit(1);
    throw error;
  }
  await write(JSON.stringify(done));
  stdio.exit(0);
}
