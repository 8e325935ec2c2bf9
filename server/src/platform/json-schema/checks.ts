import { fileURLToPath } from 'node:url';
import { WorkerPool } from '../worker-pool.js';
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
/** How many values are checked at once. Registered schemas have a separate thread. */
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
export function createSchemaChecks(
  deadlineMs: { schema: number; value: number } = DEADLINE_MS,
): SchemaChecks {
  const schemas = new WorkerPool<SchemaQuestion, SchemaAnswer>(WORKER, {
    most: 1,
    deadlineMs: deadlineMs.schema,
  });
  const values = new WorkerPool<SchemaQuestion, SchemaAnswer>(WORKER, {
    most: VALUE_THREADS,
    deadlineMs: deadlineMs.value,
  });
  /** Until when each of these schemas is not tried. */
  const penalties = new Map<string, number>();
  const tooIntricate = [{ path: '', message: 'is too deep or too intricate to be checked' }];

  /** Asks about a value; `late` when the check did not end in time, now or a moment ago. */
  async function askOfValue(question: SchemaQuestion): Promise<SchemaAnswer | 'late'> {
    const { schema } = question;
    const text = penalties.size === 0 ? '' : JSON.stringify(schema);
    if ((penalties.get(text) ?? 0) > Date.now()) return 'late';
    const answer = await values.ask(question);
    if (answer !== 'late') return answer;
    penalties.set(JSON.stringify(schema), Date.now() + PENALTY_MS);
    if (penalties.size > MAX_PENALTIES) penalties.delete(penalties.keys().next().value ?? '');
    return 'late';
  }

  return {
    async checkSchema(schema) {
      const answer = await schemas.ask({ check: 'schema', schema });
      if (answer === 'late')
        throw new InvalidSchemaError('is too intricate: it takes too long to be understood');
      requireAnswer(answer);
    },
    async violations(schema, value) {
      // A schema that says nothing takes any value: no thread is woken for that.
      if (Object.keys(schema).length === 0) return [];
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
      await Promise.all([schemas.close(), values.close()]);
    },
  };
}

type Read = Exclude<SchemaAnswer, { invalidSchema: string } | { fault: string }>;

/** @throws InvalidSchemaError when the schema cannot be used. */
function requireAnswer(answer: SchemaAnswer): Read {
  if ('invalidSchema' in answer) throw new InvalidSchemaError(answer.invalidSchema);
  if ('fault' in answer) throw new Error(`A schema check failed: ${answer.fault}`);
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
