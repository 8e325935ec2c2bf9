import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';

/** A value of a statement as JSON carries it: bytes as base64. */
export type RecordedValue = string | number | boolean | null | { bytes: string } | RecordedValue[];

/** A statement of a run. */
interface RecordedStatement {
  readonly text: string;
  readonly values: readonly RecordedValue[];
}

/** What a run asked of the database. */
export interface RunStatements {
  /** Is in the statements' values, where another run has its own. */
  readonly runId: string;
  readonly statements: readonly RecordedStatement[];
  /** How many come before the agent is called. */
  readonly beforeCall: number;
}

const LIBRARY = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url));
/** The last statement before the agent is called: it writes the run down and gives it its slot. */
const LAST_BEFORE_CALL = /start_runs/;
/** What follows the answer, such as that it has arrived. */
const AFTERWARDS_MS = 500;

/** Has the server's process note each statement that it sends. Bytes are told apart by their type. */
const WATCH = `(() => {
  const { Client } = process.getBuiltinModule('node:module').createRequire(${JSON.stringify(LIBRARY)})('pg');
  const send = Client.prototype.query;
  const plain = (value) => value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') }
    : Array.isArray(value) ? value.map(plain)
    : value instanceof Date ? value.toISOString()
    : typeof value === 'bigint' ? String(value)
    : value !== null && typeof value === 'object' ? JSON.stringify(value)
    : value ?? null;
  globalThis.sentStatements = [];
  globalThis.stopWatching = () => { Client.prototype.query = send; };
  Client.prototype.query = function (asked, values, ...others) {
    const text = typeof asked === 'string' ? asked : asked?.text;
    if (text !== undefined) {
      const given = Array.isArray(values) ? values : (asked?.values ?? []);
      globalThis.sentStatements.push({ text, values: given.map(plain) });
    }
    return send.call(this, asked, values, ...others);
  };
  return true;
})()`;

/**
 * Records the statements of one run, in the order in which they were sent. What the server also sends without a run is left out, and so is
 * what comes with one run and not with the next.
 *
 * @param run makes one; gives its id
 * @param backgroundSeconds how long what the server sends without a run is watched
 */
export async function recordRun(
  { inspector }: Pick<BusyMarketplace, 'inspector'>,
  run: () => Promise<string>,
  backgroundSeconds: number,
): Promise<RunStatements> {
  await inspector.evaluate(WATCH);
  const sent = () => inspector.evaluate<RecordedStatement[]>('globalThis.sentStatements.splice(0, Infinity)');
  await delay(backgroundSeconds * 1_000);
  const textsOf = (some: RecordedStatement[]) => new Set(some.map(({ text }) => text));
  const background = textsOf(await sent());
  await run();
  await delay(AFTERWARDS_MS);
  const before = textsOf(await sent());
  const runId = await run();
  await delay(AFTERWARDS_MS);
  const statements = (await sent()).filter(({ text }) => before.has(text) && !background.has(text));
  await inspector.evaluate('globalThis.stopWatching() ?? true');
  const last = statements.findIndex(({ text }) => LAST_BEFORE_CALL.test(text));
  if (last < 0) throw new Error('The run was not seen to begin.');
  return { runId, statements, beforeCall: last + 1 };
}
