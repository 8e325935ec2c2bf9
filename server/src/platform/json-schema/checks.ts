import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { InvalidSchemaError, type SchemaViolation } from './compile.js';
import type { SchemaAnswer, SchemaQuestion } from './worker.js';

const WORKER = fileURLToPath(new URL('../../../dist/platform/json-schema/worker.js', import.meta.url));
/**
 * Longest that one answer may take. Compiling the most intricate schemas of 64 KB takes seconds, and matching a value
 * against hundreds of patterns as long as one likes. Honest checks take milliseconds; the rest is room for busy machines.
 */
const DEADLINE_MS = { schema: 5_000, value: 5_000 };
/** How long a schema whose check did not end is not tried again: it would keep the others waiting. */
const PENALTY_MS = 60_000;
const MAX_PENALTIES = 1_000;
/** How many values are checked at once; schemas that are registered have a thread of their own. */
const VALUE_THREADS = 2;

/** Checks of schemas and values by strangers, outside the event loop and within a time. */
export interface SchemaChecks {
  /** @throws InvalidSchemaError saying why a schema cannot be used; also when that takes too long to find out. */
  checkSchema(schema: object): Promise<void>;
  /**
   * How a value breaks a schema; nothing where it does not. A check that does not end in time is a violation.
   *
   * @throws InvalidSchemaError when the schema cannot be used.
   */
  violations(schema: object, value: unknown): Promise<SchemaViolation[]>;
  close(): Promise<void>;
}

/** Starts no thread before the first check, and none keeps the process. */
export function createSchemaChecks(
  deadlineMs: { schema: number; value: number } = DEADLINE_MS,
): SchemaChecks {
  const schemas = new Lane(1, deadlineMs.schema);
  const values = new Lane(VALUE_THREADS, deadlineMs.value);
  /** Until when each of these schemas is not tried. */
  const penalties = new Map<string, number>();
  const tooIntricate = [{ path: '', message: 'is too deep or too intricate to be checked' }];
  return {
    async checkSchema(schema) {
      const answer = await schemas.ask({ check: 'schema', schema });
      if (answer === 'late')
        throw new InvalidSchemaError('is too intricate: it takes too long to be understood');
      read(answer);
    },
    async violations(schema, value) {
      const text = penalties.size === 0 ? '' : JSON.stringify(schema);
      if ((penalties.get(text) ?? 0) > Date.now()) return tooIntricate;
      const answer = await values.ask({ check: 'value', schema, value });
      if (answer !== 'late') return read(answer);
      penalties.set(JSON.stringify(schema), Date.now() + PENALTY_MS);
      if (penalties.size > MAX_PENALTIES) penalties.delete(penalties.keys().next().value ?? '');
      return tooIntricate;
    },
    close: async () => {
      await Promise.all([schemas.close(), values.close()]);
    },
  };
}

function read(answer: SchemaAnswer): SchemaViolation[] {
  if ('invalidSchema' in answer) throw new InvalidSchemaError(answer.invalidSchema);
  if ('fault' in answer) throw new Error(`A schema check failed: ${answer.fault}`);
  return answer.violations;
}

type Outcome = SchemaAnswer | 'late';

interface Waiting {
  question: SchemaQuestion;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

/** Some threads that answer questions in their order. A thread that is late is ended, and the next one is new. */
class Lane {
  readonly #deadlineMs: number;
  readonly #most: number;
  readonly #idle: Worker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #waiting: Waiting[] = [];

  constructor(most: number, deadlineMs: number) {
    this.#most = most;
    this.#deadlineMs = deadlineMs;
  }

  ask(question: SchemaQuestion): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The server is stopping.'));
    await Promise.all([...this.#idle.splice(0), ...this.#busy].map((worker) => worker.terminate()));
  }

  #next(): void {
    if (this.#waiting.length === 0 || this.#busy.size >= this.#most) return;
    const waiting = this.#waiting.shift();
    if (!waiting) return;
    const worker = this.#idle.pop() ?? new Worker(WORKER, { stdout: false, stderr: false });
    this.#busy.add(worker);
    this.#work(worker, waiting).then(waiting.resolve, waiting.reject);
  }

  /** One question on one thread, from its asking to its answer or its end. */
  #work(worker: Worker, { question }: Waiting): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = (reusable: boolean, conclude: () => void) => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('exit', onExit);
        this.#busy.delete(worker);
        if (reusable) {
          worker.off('error', onError);
          // Idle threads do not keep the process.
          worker.unref();
          this.#idle.push(worker);
        } else {
          // The listener for errors stays: what it still says while it ends is nobody's.
          void worker.terminate();
        }
        conclude();
        this.#next();
      };
      const onMessage = (answer: SchemaAnswer | 'begun') => {
        if (answer !== 'begun') settle(true, () => resolve(answer));
        // From here on: a new thread first has to load what it runs.
        else timer = setTimeout(() => settle(false, () => resolve('late')), this.#deadlineMs);
      };
      const onError = (error: Error) => settle(false, () => reject(error));
      const onExit = () => settle(false, () => reject(new Error('A schema check ended unexpectedly.')));
      worker.on('message', onMessage).on('error', onError).once('exit', onExit);
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(question);
    });
  }
}

const shared = createSchemaChecks();

/** {@link SchemaChecks.checkSchema} on the process's own threads. */
export const checkSchema = shared.checkSchema;

/** {@link SchemaChecks.violations} on the process's own threads. */
export const schemaViolations = shared.violations;
