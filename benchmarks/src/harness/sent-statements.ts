import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';

/** A value of a statement in JSON, with bytes as base64. */
export type SentValue = string | number | boolean | null | { bytes: string } | SentValue[];

/** A statement from a server to its database. */
export interface SentStatement {
  readonly text: string;
  readonly values: readonly SentValue[];
}

const LIBRARY = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url));
/** The time for the server's work after an answer. */
const AFTERWARDS_MS = 500;

/** Code that makes the server's process record each statement. */
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
 * Records the statements of one request in their order. Leaves out background statements, and statements that only one of two
 * requests sends.
 *
 * @param request makes a request, and returns its answer
 * @param backgroundSeconds how long it records background statements
 */
export async function recordStatements<T>(
  { inspector }: Pick<BusyMarketplace, 'inspector'>,
  request: () => Promise<T>,
  backgroundSeconds: number,
): Promise<{ answer: T; statements: SentStatement[] }> {
  await inspector.evaluate(WATCH);
  const sent = () => inspector.evaluate<SentStatement[]>('globalThis.sentStatements.splice(0, Infinity)');
  await delay(backgroundSeconds * 1_000);
  const textsOf = (some: SentStatement[]) => new Set(some.map(({ text }) => text));
  const background = textsOf(await sent());
  await request();
  await delay(AFTERWARDS_MS);
  const before = textsOf(await sent());
  const answer = await request();
  await delay(AFTERWARDS_MS);
  const statements = (await sent()).filter(({ text }) => before.has(text) && !background.has(text));
  await inspector.evaluate('globalThis.stopWatching() ?? true');
  return { answer, statements };
}

/** A recorded value for `pg`, with its texts changed. */
export function sentValue(value: SentValue, change: (text: string) => string = (text) => text): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => sentValue(item, change));
  return value !== null && typeof value === 'object' ? Buffer.from(value.bytes, 'base64') : value;
}
