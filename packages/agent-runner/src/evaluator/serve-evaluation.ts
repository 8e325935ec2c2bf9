import { BEGUN_LINE, type EvaluateMessage, PROTOCOL_VERSION, type ReadyMessage } from '../protocol.js';
import { readLines, type Stdio } from '../stdio.js';
import { evaluate } from './evaluate.js';

/** Sends `ready`, runs the first code that comes, answers, and ends the process. */
export async function serveEvaluation(stdio: Stdio): Promise<void> {
  const lines = readLines(stdio);
  const ready: ReadyMessage = { type: 'ready', protocol: PROTOCOL_VERSION, entry: 'evaluator' };
  await stdio.write(`${JSON.stringify(ready)}\n`);

  const first = await lines.next();
  if (first.done !== true) {
    // After this line every byte on stdout may come from the model's code. It counts as a result, never as a message.
    await stdio.write(`${BEGUN_LINE}\n`);
    const evaluation = await evaluate(JSON.parse(first.value) as EvaluateMessage);
    await stdio.write(`${JSON.stringify(evaluation)}\n`);
  }
  stdio.exit(0);
}
