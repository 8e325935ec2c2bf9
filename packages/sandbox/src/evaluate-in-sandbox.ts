import {
  type EvaluateMessage,
  type Evaluation,
  parseEvaluation,
  PROTOCOL_VERSION,
} from '@agent-rental/agent-runner';
import type { Sandbox, SandboxExit } from './sandbox.js';
import type { WarmPool } from './warm-pool.js';

const MAX_STDOUT_CHARACTERS = 16_384;

export interface EvaluateOptions {
  /** Milliseconds the code may take, counted from when it has a process. */
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Why there is no result, for the model that wrote the code. */
function explainExit({ reason }: SandboxExit): string {
  switch (reason) {
    case 'line_too_long':
    case 'output_too_large':
      return 'The code returned or printed more than it may.';
    case 'input_not_read':
      return 'The input is too large for the code.';
    case 'ended':
      return 'The code ended its process, or waited for something that cannot happen, without returning a value.';
    default:
      return 'The code was stopped: it used more memory or processor time than it may, or broke its process.';
  }
}

/** Reads until the result. Other lines are what the code printed past the console. */
async function readEvaluation(sandbox: Sandbox): Promise<Evaluation> {
  let printed = '';
  for await (const line of sandbox.lines) {
    const evaluation = parseEvaluation(line);
    if (evaluation !== undefined) {
      const stdout = (printed + evaluation.stdout).slice(0, MAX_STDOUT_CHARACTERS);
      return { ...evaluation, stdout };
    }
    if (printed.length < MAX_STDOUT_CHARACTERS) printed += `${line.slice(0, MAX_STDOUT_CHARACTERS)}\n`;
  }
  return { error: explainExit(await sandbox.exited), stdout: printed.slice(0, MAX_STDOUT_CHARACTERS) };
}

/**
 * Runs code that a model wrote in a fresh sandbox of an `evaluator` pool, which is killed afterwards. Whatever the
 * code does (throws, loops, floods, crashes) is an `error` in the result. The code is in the pool's language, as the
 * body of a function of `input` and `task`: JavaScript's may be asynchronous, Python's has the standard library.
 * @throws SandboxUnavailableError when the pool has none in time; the signal's reason when it aborts.
 */
export async function evaluateInSandbox(
  pool: Pick<WarmPool, 'take'>,
  request: Omit<EvaluateMessage, 'type' | 'protocol'>,
  { timeoutMs, signal }: EvaluateOptions,
): Promise<Evaluation> {
  const sandbox = await pool.take(signal === undefined ? {} : { signal });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void sandbox.kill();
  }, timeoutMs);
  const onAbort = (): void => void sandbox.kill();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    const message: EvaluateMessage = { type: 'evaluate', protocol: PROTOCOL_VERSION, ...request };
    sandbox.send(JSON.stringify(message));
    const evaluation = await readEvaluation(sandbox);
    signal?.throwIfAborted();
    if (timedOut && 'error' in evaluation) {
      return {
        error: `The code was stopped: it took longer than ${timeoutMs} ms.`,
        stdout: evaluation.stdout,
      };
    }
    return evaluation;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    await sandbox.kill();
  }
}
