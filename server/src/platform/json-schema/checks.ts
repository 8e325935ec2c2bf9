import { fileURLToPath } from 'node:url';
import { WorkerPool } from '../worker-pool.js';
import { InvalidSchemaError } from './errors.js';
import type { SchemaViolation } from './evaluation.js';
import type { Engine } from './text-pattern.js';
import type { SchemaAnswer, SchemaQuestion } from './worker.js';

const WORKER = fileURLToPath(new URL('../../../dist/platform/json-schema/worker.js', import.meta.url));
/**
 * Longest that one answer may take. Matching a value against hundreds of patterns takes as long as one likes. Honest
 * checks take milliseconds; the rest is room for busy machines.
 */
const DEADLINES_MS = { schema: 5_000, value: 5_000, backtracking: 1_000 };
/** How long a schema whose check did not end is not tried again: it would keep the others waiting. */
const PENALTY_MS = 60_000;
const MAX_PENALTIES = 1_000;
/** How many values are checked at once. Registered schemas have separate threads, and so have patterns that go back. */
const VALUE_THREADS = 2;
/** A larger schema waits in a separate line: its check may take 50 times as long. */
const MOST_SMALL_CHARACTERS = 4_096;

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
  /**
   * The value without the null members that break the schema; undefined where that does not make it match, or cannot be
   * found out in time.
   *
   * @throws InvalidSchemaError when the schema cannot be used.
   */
  withoutAbsentNulls(schema: object, value: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts no thread before the first check, and none keeps the process. */
export function createSchemaChecks(deadlinesMs = DEADLINES_MS): SchemaChecks {
  const pool = (most: number, deadlineMs: number, engine: Engine) =>
    new WorkerPool<SchemaQuestion, SchemaAnswer>(WORKER, { most, deadlineMs, settings: { engine } });
  const smallSchemas = pool(1, deadlinesMs.schema, 'linear');
  const largeSchemas = pool(1, deadlinesMs.schema, 'linear');
  const values = pool(VALUE_THREADS, deadlinesMs.value, 'linear');
  /** For schemas with a pattern that RE2 lacks: it waits for no other schema, and no other waits for it. */
  const backtracking = pool(1, deadlinesMs.backtracking, 'any');
  /** Until when each of these schemas is not tried. */
  const penalties = new Map<string, number>();
  const tooIntricate = [{ path: '', message: 'is too deep or too intricate to be checked' }];

  async function askBy(
    first: WorkerPool<SchemaQuestion, SchemaAnswer>,
    question: SchemaQuestion,
  ): Promise<SchemaAnswer | 'late'> {
    const answer = await first.ask(question);
    return answer !== 'late' && 'needsBacktracking' in answer ? backtracking.ask(question) : answer;
  }

  /** Asks about a value; `late` when the check did not end in time, now or a moment ago. */
  async function askOfValue(question: SchemaQuestion): Promise<SchemaAnswer | 'late'> {
    const { schema } = question;
    const text = penalties.size === 0 ? '' : JSON.stringify(schema);
    if ((penalties.get(text) ?? 0) > Date.now()) return 'late';
    const answer = await askBy(values, question);
    if (answer !== 'late') return answer;
    penalties.set(JSON.stringify(schema), Date.now() + PENALTY_MS);
    if (penalties.size > MAX_PENALTIES) penalties.delete(penalties.keys().next().value ?? '');
    return 'late';
  }

  return {
    async checkSchema(schema) {
      if (saysNothing(schema)) return;
      const isSmall = JSON.stringify(schema).length <= MOST_SMALL_CHARACTERS;
      const answer = await askBy(isSmall ? smallSchemas : largeSchemas, { check: 'schema', schema });
      if (answer === 'late')
        throw new InvalidSchemaError('is too intricate: it takes too long to be understood');
      requireAnswer(answer);
    },
    async violations(schema, value) {
      if (saysNothing(schema)) return [];
      const answer = await askOfValue({ check: 'value', schema, value });
      return answer === 'late' ? tooIntricate : violationsIn(answer);
    },
    async withoutAbsentNulls(schema, value) {
      const answer = await askOfValue({ check: 'nulls', schema, value });
      if (answer === 'late') return undefined;
      const read = requireAnswer(answer);
      return 'value' in read ? read.value : undefined;
    },
    close: async () => {
      await Promise.all([smallSchemas, largeSchemas, values, backtracking].map((each) => each.close()));
    },
  };
}

/** Whether a schema takes any value: no thread is woken for that. */
function saysNothing(schema: object): boolean {
  return Object.keys(schema).length === 0;
}

type Read = Exclude<
  SchemaAnswer,
  { invalidSchema: string } | { fault: string } | { needsBacktracking: true }
>;

/** @throws InvalidSchemaError when the schema cannot be used. */
function requireAnswer(answer: SchemaAnswer): Read {
  if ('invalidSchema' in answer) throw new InvalidSchemaError(answer.invalidSchema);
  if ('fault' in answer) throw new Error(`A schema check failed: ${answer.fault}`);
  if ('needsBacktracking' in answer) throw new Error('A thread of any engine refused a pattern.');
  return answer;
}

function violationsIn(answer: SchemaAnswer): SchemaViolation[] {
  const read = requireAnswer(answer);
  return 'violations' in read ? read.violations : [];
}

const shared = createSchemaChecks();

/** {@link SchemaChecks.checkSchema} on the process's own threads. */
export const checkSchema = shared.checkSchema;

/** {@link SchemaChecks.violations} on the process's own threads. */
export const schemaViolations = shared.violations;

/** {@link SchemaChecks.withoutAbsentNulls} on the process's own threads. */
export const withoutAbsentNulls = shared.withoutAbsentNulls;
