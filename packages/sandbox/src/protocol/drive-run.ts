import {
  type ChatMessage,
  type DoneMessage,
  type HostMethods,
  type HostReply,
  type JsonValue,
  type ModelCompleteResult,
  type ModelContinueParams,
  NOT_IN_FORM,
  type OutputCheckResult,
  parseRunnerMessage,
  PROTOCOL_VERSION,
  ProtocolViolation,
  type RunMessage,
  type RunnerRequest,
} from '@agent-rental/agent-runner';
import { setImmediate as afterThisTurn } from 'node:timers/promises';
import { HostConversation } from './host-conversation.js';
import { isWithinBounds, LARGE_LINE_CHARACTERS } from './message-bounds.js';
import { explainExit, failed, LimitExceeded, stoppedRun } from './run-ending.js';
import {
  type DriveRunOptions,
  RequestRefused,
  type RunEnding,
  type RunLimits,
  type RunOutcome,
  type RunUsage,
} from './run-options.js';

const MAX_FAILURE_CHARACTERS = 10_000;
/** A runner answers within milliseconds. A run that ends after a longer wait for it ends by the fault of its sandbox. */
const LONG_SILENCE_MS = 1_000;

/** The grants that a request needs: one of these tools. */
const NEEDED_TOOLS: Record<'javascript' | 'python' | 'web', readonly string[]> = {
  // A search by regular expression is code, too.
  javascript: ['run_javascript', 'search_input', 'repo_search'],
  python: ['run_python'],
  web: ['web_fetch'],
};

class RunSession {
  readonly #options: DriveRunOptions;
  readonly #limits: RunLimits;
  readonly #grantedTools: ReadonlySet<string>;
  /** Aborted at the end of the run, to end the open callbacks. */
  readonly #over = new AbortController();
  readonly #conversation: HostConversation;
  #asked: ChatMessage[] = [];
  readonly usage: RunUsage = { modelCalls: 0, evaluations: 0 };
  #outputChecks = 0;
  #webFetches = 0;
  #stepNotices = 0;
  #answering = false;
  #lastCheck: { output: JsonValue; result: OutputCheckResult } | undefined;
  #done: DoneMessage | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  /** Begin of the wait for the runner, in milliseconds of `performance.now`; undefined while the runner waits for the host. */
  #silentSince: number | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #onSilence: (ending: RunEnding) => void = () => {};

  constructor(options: DriveRunOptions) {
    this.#options = options;
    this.#grantedTools = new Set(options.run.tools.map(({ name }) => name));
    this.#limits = {
      maxModelCalls: options.run.maxSteps + 1,
      maxEvaluations: 64,
      maxWebFetches: 32,
      maxOutputChecks: 64,
      maxStepNotices: 1_000,
      // A quarter more than the limit of the honest runner, which counts characters before escaping. Each model request
      // serializes all of it at once, in about 3 ms for a million characters.
      maxConversationCharacters: 2_500_000,
      maxSilenceMs: 60_000,
      endGraceMs: 1_000,
      ...options.limits,
    };
    this.#conversation = new HostConversation(this.#limits.maxConversationCharacters);
  }

  /** Drives the run to its end and kills the sandbox. Rejects with the error of a callback. */
  async drive(): Promise<RunEnding> {
    const { sandbox, run, signal } = this.#options;
    let onAbort = (): void => {};
    try {
      const aborted = new Promise<RunEnding>((resolve) => {
        onAbort = () => resolve(this.#silenceMs > LONG_SILENCE_MS ? this.#silence() : stoppedRun());
      });
      const silent = new Promise<RunEnding>((resolve) => (this.#onSilence = resolve));
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted === true) onAbort();
      else {
        const message: RunMessage = { type: 'run', protocol: PROTOCOL_VERSION, run };
        sandbox.send(JSON.stringify(message));
        this.#awaitRunner();
      }
      return await Promise.race([aborted, silent, this.#converse()]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(this.#graceTimer);
      clearTimeout(this.#silenceTimer);
      this.#over.abort(signal?.reason);
      await sandbox.kill();
    }
  }

  /** The time that the host has waited for the runner, in milliseconds. */
  get #silenceMs(): number {
    return this.#silentSince === undefined ? 0 : performance.now() - this.#silentSince;
  }

  /** Waits for the next message of the runner, for a bounded time. */
  #awaitRunner(): void {
    if (this.#over.signal.aborted) return;
    this.#silentSince = performance.now();
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => this.#onSilence(this.#silence()), this.#limits.maxSilenceMs);
  }

  /** The runner waits for the host, or has ended. */
  #stopWaiting(): void {
    this.#silentSince = undefined;
    clearTimeout(this.#silenceTimer);
  }

  #silence(): RunEnding {
    const detail = `it did not answer for ${Math.round(this.#silenceMs)} ms`;
    return failed('crash', 'The agent stopped unexpectedly.', detail);
  }

  /** Reads until the sandbox ends and answers meanwhile, so that it sees a crash also while a callback runs. */
  #converse(): Promise<RunEnding> {
    return new Promise((resolve, reject) => {
      const read = async (): Promise<RunEnding> => {
        for await (const line of this.#options.sandbox.lines) {
          const request = this.#accept(line, await isWithinBounds(line));
          const isLarge = line.length > LARGE_LINE_CHARACTERS;
          if (this.#answering || this.#done !== undefined) this.#stopWaiting();
          else this.#awaitRunner();
          if (request !== undefined) this.#reply(request, isLarge).catch(reject);
        }
        return this.#conclude();
      };
      read().then(resolve, (error: unknown) => {
        if (error instanceof ProtocolViolation) {
          resolve(failed('protocol', 'The agent sent something it may not send.', error.message));
        } else if (error instanceof LimitExceeded) {
          resolve(failed('limit', error.message));
        } else {
          reject(error);
        }
      });
    });
  }

  /** Reads one line. Returns the request in it, if it has one that may be answered. */
  #accept(line: string, isReadable: boolean): RunnerRequest | undefined {
    const message = parseRunnerMessage(line, isReadable);
    if (this.#done !== undefined) throw new ProtocolViolation('a message after the result');
    if ('type' in message) {
      if (this.#answering) throw new ProtocolViolation('a result while a request is open');
      this.#done = message;
      // The result counts when the runner ends without further lines. An honest runner does so at once.
      this.#graceTimer = setTimeout(() => void this.#options.sandbox.kill(), this.#limits.endGraceMs);
      return undefined;
    }
    if (message.method === 'step') {
      this.#stepNotices += 1;
      this.#bound(this.#stepNotices, this.#limits.maxStepNotices, 'progress messages');
      this.#options.onStep?.(message.params);
      return undefined;
    }
    if (this.#answering) throw new ProtocolViolation('a second request while one is open');
    if (message.method === 'say') {
      this.#conversation.say(message.params, line.length);
      this.#boundConversation();
      return undefined;
    }
    this.#admit(message, line.length);
    this.#answering = true;
    return message;
  }

  #admit(request: RunnerRequest, characters: number): void {
    if (request.method === 'model.complete') {
      if (request.params.tools.some((name) => !this.#grantedTools.has(name))) {
        throw new ProtocolViolation('a tool that was not granted');
      }
      this.usage.modelCalls += 1;
      this.#bound(this.usage.modelCalls, this.#limits.maxModelCalls, 'model calls');
      this.#conversation.add(request.params.messages, characters);
      this.#boundConversation();
      this.#asked = this.#conversation.whole();
    } else if (request.method === 'web.fetch') {
      this.#requireGrant('web');
      this.#webFetches += 1;
      this.#bound(this.#webFetches, this.#limits.maxWebFetches, 'pages of the web');
    } else if (request.method === 'code.evaluate') {
      this.#requireGrant(request.params.language);
      this.usage.evaluations += 1;
      this.#bound(this.usage.evaluations, this.#limits.maxEvaluations, 'pieces of code');
    } else {
      this.#outputChecks += 1;
      this.#bound(this.#outputChecks, this.#limits.maxOutputChecks, 'checks of its answer');
    }
  }

  #requireGrant(what: keyof typeof NEEDED_TOOLS): void {
    if (!NEEDED_TOOLS[what].some((name) => this.#grantedTools.has(name))) {
      throw new ProtocolViolation('a tool that was not granted');
    }
  }

  #bound(used: number, max: number, what: string): void {
    if (used > max) throw new LimitExceeded(`The agent was stopped: it asked for more than ${max} ${what}.`);
  }

  #boundConversation(): void {
    if (!this.#conversation.isTooLong) return;
    throw new LimitExceeded('The agent was stopped: its conversation with the model became too long.');
  }

  async #reply(request: RunnerRequest, isLarge: boolean): Promise<void> {
    if (isLarge) await afterThisTurn();
    let reply: HostReply;
    try {
      reply = { id: request.id, result: await this.#answer(request) };
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      reply = { id: request.id, error: { message: error.message } };
    }
    // The evaluation was parsed in this iteration of the event loop and may be large: serialize it in the next one.
    if (request.method === 'code.evaluate') await afterThisTurn();
    this.#answering = false;
    this.#options.sandbox.send(JSON.stringify(reply));
    this.#awaitRunner();
  }

  async #answer(request: RunnerRequest): Promise<HostMethods[keyof HostMethods]['result']> {
    switch (request.method) {
      case 'model.complete':
        return this.#completeModel(request.params);
      case 'code.evaluate':
        return this.#options.evaluate(request.params, this.#over.signal);
      case 'web.fetch':
        if (this.#options.fetchPage === undefined) throw new RequestRefused('Pages cannot be read here.');
        return this.#options.fetchPage(request.params, this.#over.signal);
      case 'output.check':
        return this.#check(request.params.output);
      default:
        return request satisfies never;
    }
  }

  async #completeModel({ tools, toolChoice }: ModelContinueParams): Promise<ModelCompleteResult> {
    const messages = this.#asked;
    const reply = await this.#options.completeModel({ messages, tools, toolChoice }, this.#over.signal);
    this.#conversation.answered(reply);
    return reply;
  }

  /** Answers `output.check`, and keeps the answer, because an honest runner then ends with that output. */
  async #check(output: JsonValue): Promise<OutputCheckResult> {
    const result = await this.#options.checkOutput(output);
    this.#lastCheck = { output, result };
    return result;
  }

  /** Checks the result, unless it equals the last checked output. */
  async #checkResult(output: JsonValue): Promise<OutputCheckResult> {
    if (this.#lastCheck !== undefined) {
      const checked = JSON.stringify(this.#lastCheck.output);
      // Up to a megabyte each: serialize one per iteration of the event loop.
      if (checked.length > LARGE_LINE_CHARACTERS) await afterThisTurn();
      if (checked === JSON.stringify(output)) return this.#lastCheck.result;
    }
    return this.#options.checkOutput(output);
  }

  async #conclude(): Promise<RunEnding> {
    const done = this.#done;
    if (done === undefined) return explainExit(await this.#options.sandbox.exited);
    if (done.status === 'failed') return failed('agent', done.output.slice(0, MAX_FAILURE_CHARACTERS));
    const { valid, errors } = await this.#checkResult(done.output);
    if (valid) return { status: 'completed', output: done.output };
    return failed('output', `${NOT_IN_FORM}.`, errors.join('; ').slice(0, MAX_FAILURE_CHARACTERS));
  }
}

/**
 * Drives one run in its sandbox: sends the task, answers the runner's requests, and takes its result. Every line of the runner is
 * untrusted. A line that breaks the protocol, or one request too many, ends the run as failed.
 *
 * Resolves for every failure of the agent and for an abort. Rejects only with the error of a callback (other than
 * `RequestRefused`), which is a fault of the host.
 */
export async function driveRun(options: DriveRunOptions): Promise<RunOutcome> {
  const session = new RunSession(options);
  const ending = await session.drive();
  return { ...ending, ...session.usage };
}
