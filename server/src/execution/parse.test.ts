import type { ExecuteBody } from '@agent-rental/contract';
import { expect, it } from 'vitest';
import { publishedListing } from '../testing/index.js';
import { parseTask } from './parse.js';

const listing = publishedListing({ timeoutSeconds: 60 });
const parse = (body: Partial<ExecuteBody>, key?: string) =>
  parseTask('wallet', { agent_id: listing.id, task: 'Do it.', ...body }, key, listing);

function nested(depth: number): Record<string, never> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value as Record<string, never>;
}

it('input and input_uri together are refused, and so is a URI that no store serves [EXE-4, EXE-5]', () => {
  expect(() => parse({ input: 'a', input_uri: 'ipfs://b' })).toThrow(/not both/);
  expect(() => parse({ input: {}, input_uri: 'ipfs://b' })).toThrow(/not both/);
  expect(() => parse({ input_uri: 'ipfs://b' })).toThrow(/^input_uri/);
});

it('an input is taken up to 1 MiB of JSON, counted in bytes', () => {
  const room = 1024 * 1024 - 2;
  expect(parse({ input: 'x'.repeat(room) }).input).toHaveLength(room);
  expect(() => parse({ input: 'x'.repeat(room + 1) })).toThrow(/^input: has 1048577 bytes/);
  expect(() => parse({ input: 'ü'.repeat(room - 1) })).toThrow(/^input: has/);
});

it('an input nested too deeply is refused', () => {
  expect(parse({ input: nested(60) }).input).toBeDefined();
  expect(() => parse({ input: nested(70) })).toThrow(/nested too deeply/);
});

it.each([
  [undefined, 60],
  [1, 1],
  [59, 59],
  [60, 60],
  [300, 60],
])('a request for %s seconds gets %i, where the manifest says 60 [EXE-8]', (asked, seconds) => {
  expect(parse(asked === undefined ? {} : { timeout_seconds: asked }).timeoutSeconds).toBe(seconds);
});

it.each(['', ' ', 'a b', 'ü', 'a\n', 'x'.repeat(201)])('the idempotency key %j is refused [RUN-6]', (key) => {
  expect(() => parse({}, key)).toThrow(/^Idempotency-Key/);
});

it('every task is a run of its own, and equal requests have one digest', () => {
  const first = parse({ input: { a: 1, b: [2] } }, 'key');
  const second = parse({ input: { b: [2], a: 1 } }, 'key');
  expect(first.runId).not.toBe(second.runId);
  expect(first.digest).toEqual(second.digest);
  expect(first.idempotencyKey).toBe('key');
  for (const other of [
    { input: { a: 1, b: [3] } },
    { input: 'a' },
    {},
    { input: { a: 1, b: [2] }, timeout_seconds: 5 },
  ]) {
    expect(parse(other).digest).not.toEqual(first.digest);
  }
});
