import {
  beginsLikeEvaluation,
  BEGUN_LINE,
  type EvaluateMessage,
  type Evaluation,
  type JsonObject,
  parseEvaluation,
  PROTOCOL_VERSION,
} from '@agent-rental/agent-runner';
import { isWithinBounds } from './message-bounds.js';
import { SerializedInput, serializeInput } from './serialized-input.js';
import { type ExitReason, type Sandbox, type SandboxExit, SandboxFaultError } from '../sandbox.js';
import type { WarmPool } from '../pool/sandbox-pool.js';

/** The longest wait until a sandbox has its code with the input. */
const BEGIN_TIMEOUT_MS = 20_000;
const MAX_STDOUT_CHARACTERS = 16_384;
/** Most lines that begin like a result and are none. Each failed parse costs an exception. */
const MAX_MISSHAPEN_RESULTS = 100;
/** Sandboxes for one piece of code. It has no network, so that it may run again after a fault of its sandbox. */
const MOST_SANDBOXES = 2;
/** Ends by the code or its input, also where the first output of the code took the first line with it. */
const LIMITS_BEFORE_BEGIN: ReadonlySet<ExitReason> = new Set([
  'input_not_read',
  'line_too_long',
  'output_too_large',
]);
const TOO_MUCH = 'The code returned or printed more than it may.';

export interface EvaluateOptions {
  /** Most milliseconds for the code, from its begin. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** The owner of the sandbox, see `TakeOptions`. */
  owner?: string;
  /** Told when the call begins to wait for a sandbox that has the code, and when the code begins. */
  onWaiting?(isWaiting: boolean): void;
}

export interface EvaluateRequest extends Pick<EvaluateMessage, 'code' | 'task'> {
  /** The caller serializes it where several pieces of code get the same input. */
  input?: string | JsonObject | SerializedInput;
}

async function piecesOf(input: string | JsonObject | SerializedInput): Promise<readonly Buffer[]> {
  return (input instanceof SerializedInput ? input : await serializeInput(input)).pieces;
}

/** The reason of a missing result, for the model that wrote the code. */
function explainExit({ reason }: SandboxExit): string {
  switch (reason) {
    case 'line_too_long':
    case 'output_too_large':
      return TOO_MUCH;
    case 'input_not_read':
      return 'The input is too large for the code.';
    case 'ended':
      return 'The code ended its process, or waited for something that cannot happen, without returning a value.';
    default:
      return 'The code was stopped: it used more memory or processor time than it may, or broke its process.';
  }
}

/**
 * Reads until the result. Other lines are prints of the code past the console.
 * @param onBegun called when the sandbox has the code.
 * @throws SandboxFaultError when the sandbox ended before it had the code, or was lost.
 */
async function readEvaluation(sandbox: Sandbox, onBegun: () => void): Promise<Evaluation> {
  const lines = sandbox.lines[Symbol.asyncIterator]();
  if ((await lines.next()).value !== BEGUN_LINE) {
    const exit = await sandbox.exited;
    if (LIMITS_BEFORE_BEGIN.has(exit.reason)) return { error: explainExit(exit), stdout: '' };
    throw new SandboxFaultError(`the sandbox of the code ended before the code began: ${exit.reason}`);
  }
  onBegun();
  let printed = '';
  let misshapen = 0;
  const stdoutWith = (more: string): string => (printed + more).slice(0, MAX_STDOUT_CHARACTERS);
  for await (const line of { [Symbol.asyncIterator]: () => lines }) {
    if (beginsLikeEvaluation(line)) {
      const evaluation = parseEvaluation(line, await isWithinBounds(line));
      if (evaluation !== undefined) return { ...evaluation, stdout: stdoutWith(evaluation.stdout) };
      misshapen += 1;
      if (misshapen > MAX_MISSHAPEN_RESULTS) return { error: TOO_MUCH, stdout: stdoutWith('') };
    }
    if (printed.length < MAX_STDOUT_CHARACTERS) printed += `${line.slice(0, MAX_STDOUT_CHARACTERS)}\n`;
  }
  const exit = await sandbox.exited;
  if (exit.reason === 'lost') throw new SandboxFaultError('the sandbox of the code was lost');
  return { error: explainExit(exit), stdout: stdoutWith('') };
}

/**
 * Runs code of a model in a fresh sandbox of an `evaluator` pool, and kills the sandbox afterwards. Every failure of the code is
 * an `error` in the result: errors, loops, floods and crashes. The code is in the pool's language, as the body of a function of
 * `input` and `task`. JavaScript may be asynchronous, and Python has its standard library.
 * @throws SandboxUnavailableError when the pool has none in time; SandboxFaultError when a second sandbox was lost, too; the
 *   signal's reason when it aborts.
 */
export async function evaluateInSandbox(
  pool: Pick<WarmPool, 'take'>,
  request: EvaluateRequest,
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { signal, owner, onWaiting } = options;
  for (let sandboxes = 1; ; sandboxes += 1) {
    onWaiting?.(true);
    const sandbox = await pool.take({ signal, owner });
    try {
      return await evaluateOnce(sandbox, request, options);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof SandboxFaultError) || sandboxes === MOST_SANDBOXES) throw error;
    }
  }
}

async function evaluateOnce(
  sandbox: Sandbox,
  { input, ...request }: EvaluateRequest,
  { timeoutMs, signal, onWaiting }: EvaluateOptions,
): Promise<Evaluation> {
  const stop = (): void => void sandbox.kill();
  let timedOut = false;
  let timer = setTimeout(stop, BEGIN_TIMEOUT_MS);
  const onBegun = (): void => {
    onWaiting?.(false);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
  };
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    const message: EvaluateMessage = { type: 'evaluate', protocol: PROTOCOL_VERSION, ...request };
    const head = JSON.stringify(message);
    sandbox.send(
      input === undefined
        ? head
        : [Buffer.from(`${head.slice(0, -1)},"input":`), ...(await piecesOf(input)), Buffer.from('}')],
    );
    const evaluation = await readEvaluation(sandbox, onBegun);
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
    signal?.removeEventListener('abort', stop);
    await sandbox.kill();
  }
}
