import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectingGarbage } from '../testing/index.js';
import { createRpc, postJson, type Rpc } from './rpc.js';

/** The node's next answer. */
let answer: unknown;
let rpc: Rpc;
const node = createServer((_, response) => {
  response.end(
    typeof answer === 'string' ? answer : JSON.stringify({ jsonrpc: '2.0', id: 1, ...(answer as object) }),
  );
});

beforeAll(async () => {
  await once(node.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  rpc = createRpc((body) => postJson(url, body));
});
afterAll(() => void node.close());

const statuses = async () => (await rpc.getSignatureStatuses(['a', 'b'], false)).statuses;
const resultOf = (value: unknown) => ({ context: { slot: 7, apiVersion: '4.0.0' }, value });
const landed = { slot: 5, confirmations: null, err: null };

it.each([
  ['known', { confirmationStatus: 'finalized' }, { confirmationStatus: 'finalized' }],
  ['null', { confirmationStatus: null }, {}],
  ['not there', {}, {}],
])(
  'a status whose confirmation is %s is read, as nodes of several versions answer',
  async (_, given, read) => {
    answer = { result: resultOf([{ ...landed, status: { Ok: null }, ...given }, null]) };
    expect(await statuses()).toEqual([{ ...landed, ...read }, null]);
  },
);

it('a call to a node that does not finish its answer ends in time although garbage is collected [EXE-47]', async () => {
  const slow = createServer((_, response) => void response.write('{'));
  await once(slow.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const impatient = createRpc((body) => postJson(url, body, 200));
  const calls = await collectingGarbage(() =>
    Promise.allSettled(Array.from({ length: 20 }, () => impatient.getSignatureStatuses(['a'], false))),
  );
  for (const call of calls)
    expect(call).toMatchObject({ status: 'rejected', reason: { name: 'TimeoutError' } });
  slow.closeAllConnections();
  slow.close();
});

it('an error that is null is none', async () => {
  answer = { result: resultOf([null, null]), error: null };
  expect(await statuses()).toEqual([null, null]);
});

it.each([
  ['an error', { error: { code: -32_005, message: 'behind' } }, /behind/],
  ['no result', {}, /./],
  ['a result of another form', { result: resultOf([{ slot: 'five' }]) }, /./],
  ['a page of a proxy', '<html>429</html>', /./],
])('%s is thrown, and never passes for an answer', async (_, given, message) => {
  answer = given;
  await expect(statuses()).rejects.toThrow(message);
});
