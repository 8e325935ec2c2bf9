import { type DoneMessage, PROTOCOL_VERSION, type RunMessage } from '../protocol.js';
import { connectHost, HostGone } from './host.js';
import { runAgent } from './run-agent.js';

/** Reads one run from the host's lines and works on it. Gives the exit code of the process. */
export async function serveRun(
  lines: AsyncIterator<string>,
  write: (line: string) => Promise<void>,
): Promise<0 | 1> {
  const first = await lines.next();
  // Never used: the pool that kept the process warm has ended.
  if (first.done === true) return 0;
  const { run, protocol } = JSON.parse(first.value) as RunMessage;
  let done: DoneMessage;
  try {
    done =
      protocol === PROTOCOL_VERSION
        ? await runAgent(run, connectHost(lines, write))
        : { type: 'done', status: 'failed', output: 'The agent was asked in a version it does not speak.' };
  } catch (error) {
    if (error instanceof HostGone) return 1;
    throw error;
  }
  await write(JSON.stringify(done));
  return 0;
}
