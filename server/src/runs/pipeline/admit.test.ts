import type { ExecuteBody, Json } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import type { PublishedListing } from '../../listings/index.js';
import { loginOf, publishedListing } from '../../testing/index.js';
import { readPublishedInput } from '../../http/routes/tools.js';
import { admit, withFileInput } from './admit.js';
import { parseOrder } from './order.js';
import { taskOf } from './parse.js';

const SCHEMA = {
  type: 'object',
  properties: {
    total: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    filter: { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] },
  },
  required: ['total', 'filter'],
  additionalProperties: false,
};
const listing = publishedListing({ inputSchema: SCHEMA }, {});
const deps = {
  settlement: { hasCredit: async () => false },
  files: { readInput: async () => undefined },
  chain: {},
  readPublishedInput,
  stepTimes: () => undefined,
} as unknown as Parameters<typeof admit>[0];
const admitted = async (input: never, inputSchema: object = SCHEMA) => {
  const listing = publishedListing({ inputSchema: inputSchema as never }, {});
  const body = { agent_id: listing.id, task: 'Do it.', input };
  const task = taskOf(parseOrder(loginOf('wallet'), body, undefined), body, listing);
  const access = { status: 'active', agreedPriceLamports: null } as const;
  return (await admit(deps, task, {} as never, access)).input;
};

describe('an input', () => {
  it('in the creator’s form is taken as it is', async () => {
    const input = { total: 5, filter: { from: '2026-01-01' } };
    expect(await admitted(input as never)).toEqual(input);
  });

  it.each([
    ['an object as text', { total: 5, filter: '{"from":"2026-01-01"}' }, 5],
    ['all of it as text', '{"total":5,"filter":{"from":"2026-01-01"}}', 5],
    ['no null', { filter: { from: '2026-01-01' } }, null],
  ])('in the form of the definition is read as it is meant: %s', async (_, input, total) => {
    expect(await admitted(input as never)).toEqual({ total, filter: { from: '2026-01-01' } });
  });

  it('takes null for an optional member that may not be null as absence', async () => {
    const input = { total: null, filter: { from: '2026-01-01', until: null }, page: null };
    expect(await admitted(input as never)).toEqual({ total: null, filter: input.filter });
  });

  it('with another meaning is refused, by its path in the request', async () => {
    const wrong = { total: 5, filter: '{"until":"2026-01-01"}' };
    await expect(admitted(wrong as never)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^input\.filter: /) as string,
    });
  });
});

describe('an absent input', () => {
  const TEXT = { type: 'string' };
  const DEFAULTED = { ...TEXT, default: 'x' };
  const requiring = (properties: object) => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
  });

  it.each<[string, object]>([
    ['a required member', requiring({ csv: TEXT })],
    ['a text of some length', { type: 'string', minLength: 1 }],
    ['a required member of which another has a default', requiring({ a: TEXT, b: DEFAULTED })],
    ['one of several with members', { oneOf: [requiring({ a: {} }), { ...TEXT, minLength: 3 }] }],
    ['nothing that is valid', { type: 'object', minProperties: 1 }],
  ])('is refused where the schema wants %s, before anything is charged [EXE-21]', async (_, schema) => {
    await expect(admitted(undefined as never, schema)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^input: is required: /) as string,
    });
  });

  it.each<[string, object]>([
    ['an empty object', { type: 'object', properties: { csv: { type: 'string' } } }],
    ['a text', { type: 'string' }],
    ['a default', { type: 'object', required: ['a'], default: { a: 1 } }],
    ['defaults of required members', requiring({ a: DEFAULTED })],
    ['anything', {}],
  ])('is taken where the schema takes %s [EXE-21]', async (_, schema) => {
    expect(await admitted(undefined as never, schema)).toBeUndefined();
  });
});

const taskWith = (asked: Partial<ExecuteBody>) => {
  const body = { agent_id: listing.id, task: 'Do it.', ...asked };
  return taskOf(parseOrder(loginOf('wallet'), body, undefined), body, listing);
};

it('a file is the input of the task that names it, if it can be one', async () => {
  const task = taskWith({ input_uri: 'agent-rental://files/1' });
  const asked: string[] = [];
  const withContent = (content: Json) =>
    withFileInput(task, async (inputUri) => {
      asked.push(inputUri);
      return { value: content };
    });
  expect((await withContent({ rows: [1] })).input).toEqual({ rows: [1] });
  expect((await withContent('text')).input).toBe('text');
  expect(asked).toEqual(['agent-rental://files/1', 'agent-rental://files/1']);
  for (const content of [[1], 7, null, '\u0001'.repeat(5 * 1024 * 1024)]) {
    await expect(withContent(content)).rejects.toThrow(/^input_uri/);
  }
  const plain = taskWith({ input: 'as sent' });
  expect(await withFileInput(plain, () => Promise.reject(new Error('not asked')))).toBe(plain);
});

describe('the owner of the wallet', () => {
  /** The question about a run at 1000 lamports, by a key that may spend nothing by itself. */
  async function asked(input: Json, fields: Partial<PublishedListing> = {}, isCredited = false) {
    const questions: unknown[] = [];
    const allowance = {
      asksFor: () => true,
      requireApproval: async (spend: object) => void questions.push(spend),
    };
    const model = { rentalModel: 'per_query', ...fields } as const;
    const perTask = publishedListing({ inputSchema: { type: 'object' } }, model);
    const body = { agent_id: perTask.id, task: 'Do it.', input } as ExecuteBody;
    const task = taskOf(parseOrder(loginOf('wallet'), body, undefined), body, perTask);
    const settlement = { hasCredit: async () => isCredited };
    const access = { status: 'active', agreedPriceLamports: null } as const;
    await admit({ ...deps, settlement }, task, allowance as never, access).catch(() => undefined);
    return { questions, task };
  }

  it('is asked about a run that is charged, by its price and request [ID-70]', async () => {
    const { questions, task } = await asked({});
    const call = { listingId: task.listing.id, digest: task.digest };
    expect(questions).toEqual([{ kind: 'run', lamports: 1000n, call }]);
  });

  it('is not asked about an input that is refused, or a run that takes nothing', async () => {
    expect((await asked('no object')).questions).toEqual([]);
    expect((await asked({}, { rentalModel: 'one_time' })).questions).toEqual([]);
    expect((await asked({}, {}, true)).questions).toEqual([]);
  });
});
