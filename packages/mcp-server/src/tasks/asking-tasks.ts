import { ProtocolError, type CallToolResult, type InputRequest } from '@modelcontextprotocol/server';
import { TASK_TTL_MS } from './task-ids.js';

/** Most kept tasks. Further calls ask without a task, as for clients without tasks. */
const MAX_TASKS = 100;
/** Wait for a task's first question or its end. */
const SETTLE_MS = 500;

/** Asks the client; resolves with its unchanged answer. The name is unique in the task. */
type AskClient = (name: string, request: InputRequest) => Promise<unknown>;

/** Work that asks its client. Ends with a result, or with a running run. */
export type AskingWork = (
  ask: AskClient,
  signal: AbortSignal,
) => Promise<{ result: CallToolResult } | { runId: string }>;

/** The state of a task. */
type TaskOutcome =
  | { readonly result: CallToolResult }
  | { readonly runId: string }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly isCancelled: true };

/** A task that asks its client. */
export class AskingTask {
  readonly createdAtMs = Date.now();
  #changedAtMs = this.createdAtMs;
  #outcome: TaskOutcome | undefined;
  readonly #open = new Map<string, { request: InputRequest; answer: (answer: unknown) => void }>();
  readonly #asked = new Set<string>();
  readonly #controller = new AbortController();
  readonly #settled: Promise<void>;

  constructor(work: AskingWork) {
    const { signal } = this.#controller;
    let asked = (): void => undefined;
    const firstQuestion = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const ask: AskClient = (name, request) => {
      // Never ask an answered name again: the client would take it for the known question.
      if (this.#asked.has(name)) throw new Error(`The question ${name} was asked before.`);
      this.#asked.add(name);
      asked();
      return new Promise((resolve, reject) => {
        this.#open.set(name, { request, answer: resolve });
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    };
    const over = Promise.resolve()
      .then(() => work(ask, signal))
      .then(
        (outcome) => this.#end(outcome),
        (error: unknown) => this.#end(signal.aborted ? { isCancelled: true } : { error: rpcError(error) }),
      );
    this.#settled = Promise.race([firstQuestion, over]);
  }

  #end(outcome: TaskOutcome): void {
    this.#outcome ??= outcome;
    this.#open.clear();
    this.#changedAtMs = Date.now();
  }

  /** The outcome; undefined while the task works. */
  get outcome(): TaskOutcome | undefined {
    return this.#outcome;
  }

  /** Time of the last change. */
  get changedAtMs(): number {
    return this.#changedAtMs;
  }

  /** The questions without an answer. */
  get questions(): Record<string, InputRequest> {
    return Object.fromEntries([...this.#open].map(([name, { request }]) => [name, request]));
  }

  /** Resolves when the task asks or has ended, or after a short wait. */
  async settle(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, SETTLE_MS);
    });
    await Promise.race([this.#settled, moment]);
    clearTimeout(timer);
  }

  /** Takes answers, and ignores answers without an open question. */
  answer(answers: Readonly<Record<string, unknown>>): void {
    for (const [name, answer] of Object.entries(answers)) {
      const question = this.#open.get(name);
      if (question === undefined) continue;
      this.#open.delete(name);
      this.#changedAtMs = Date.now();
      question.answer(answer);
    }
  }

  /** Ends the task, unless it has ended. */
  cancel(): void {
    if (this.#outcome !== undefined) return;
    this.#controller.abort(new Error('The client cancelled the task.'));
    this.#end({ isCancelled: true });
  }
}

/** The tasks of a connection that ask its client. */
export class AskingTasks {
  readonly #tasks = new Map<string, AskingTask>();

  find(id: string): AskingTask | undefined {
    return this.#tasks.get(id);
  }

  /** Whether one more task may be started. */
  get hasRoom(): boolean {
    for (const [id, task] of this.#tasks) {
      const isOld = Date.now() - task.createdAtMs > TASK_TTL_MS;
      if (isOld) task.cancel();
      // An ended task can start again: its key gives the same result.
      if (isOld || (this.#tasks.size >= MAX_TASKS && task.outcome !== undefined)) this.#tasks.delete(id);
    }
    return this.#tasks.size < MAX_TASKS;
  }

  begin(id: string, work: AskingWork): AskingTask {
    const task = new AskingTask(work);
    this.#tasks.set(id, task);
    return task;
  }

  /** Ends all tasks of a closed connection. */
  cancelAll(): void {
    for (const task of this.#tasks.values()) task.cancel();
    this.#tasks.clear();
  }
}

function rpcError(error: unknown): { code: number; message: string } {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message };
  return { code: -32_603, message: 'Internal error' };
}
