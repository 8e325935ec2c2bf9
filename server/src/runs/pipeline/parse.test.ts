import type { ExecuteBody } from '@agent-rental/contract';
import { expect, it } from 'vitest';
import { loginOf, publishedListing } from '../../testing/index.js';
import { parseOrder } from './order.js';
import { taskOf } from './parse.js';

const listing = publishedListing({ timeoutSeconds: 60 });
const parse = (asked: Partial<ExecuteBody>, key?: string) => {
  const body = { agent_id: listing.id, task: 'Do it.', ...asked };
  return taskOf(parseOrder(loginOf('wallet'), body, key), body, listing);
};

it('input and input_uri together are refused [EXE-4]', () => {
  expect(() => parse({ input: 'a', input_uri: 'ipfs://b' })).toThrow(/not both/);
  expect(() => parse({ input: {}, input_uri: 'ipfs://b' })).toThrow(/not both/);
});

it('an input is taken up to 1 MiB of JSON, counted in bytes; a larger one is pointed to the files [EXE-21]', () => {
  const room = 1024 * 1024 - 2;
  expect(parse({ input: 'x'.repeat(room) }).input).toHaveLength(room);
  expect(() => parse({ input: 'x'.repeat(room + 1) })).toThrow(/^input: has 1048577 bytes.*POST \/v1\/files/);
  expect(() => parse({ input: 'ü'.repeat(room - 1) })).toThrow(/^input: has/);
});

it.each([
  [undefined, 60],
  [1, 1],
  [59, 59],
  [60, 60],
  [300, 60],
])('a request for %s seconds gets %i, where the manifest says 60 [EXE-7]', (asked, seconds) => {
  expect(parse(asked === undefined ? {} : { timeout_seconds: asked }).timeoutSeconds).toBe(seconds);
});

it.each(['', ' ', 'a b', 'ü', 'a\n', 'x'.repeat(201)])('the idempotency key %j is refused [RUN-3]', (key) => {
  expect(() => parse({}, key)).toThrow(/Idempotency-Key/);
});

it.each([
  ['key', { name: 'key', windowSeconds: undefined }],
  ['key;window=30', { name: 'key', windowSeconds: 30 }],
  ['key;window=999999999', { name: 'key', windowSeconds: 3_600 }],
  ['key;window=soon', { name: 'key;window=soon', windowSeconds: undefined }],
])('the idempotency key %j has a name, and a window in seconds of at most an hour', (header, key) => {
  expect(parse({}, header).key).toEqual(key);
});

it('every task is another run, and equal requests have one digest', () => {
  const first = parse({ input: { a: 1, b: [2] } }, 'key');
  const second = parse({ input: { b: [2], a: 1 } }, 'key');
  expect(first.runId).not.toBe(second.runId);
  expect(first.digest).toEqual(second.digest);
  for (const other of [
    { input: { a: 1, b: [3] } },
    { input: 'a' },
    {},
    { input: { a: 1, b: [2] }, timeout_seconds: 5 },
  ]) {
    expect(parse(other).digest).not.toEqual(first.digest);
  }
});
