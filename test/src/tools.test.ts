import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/http.js';
import { attach, type Marketplace } from './support/marketplace.js';
import { newParticipant, type Participant } from './support/participant.js';
import { rentOverHttp } from './support/renter.js';

const FORMATS = ['openai', 'openai_responses', 'anthropic', 'gemini', 'mcp', 'json_schema'] as const;

let marketplace: Marketplace;
let renter: Participant;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  renter = await newParticipant(marketplace);
  for (const model of ['one_time', 'subscription', 'per_query'] as const) {
    await rentOverHttp(marketplace, renter, model);
  }
});

type Json = Record<string, unknown>;
const get = async (query: string, token = renter.token) =>
  call(marketplace, 'GET', `/v1/tools${query}`, { token });
const toolsIn = (body: Json) => body['tools'] as Json[];

/** Name, description and schema of a definition, where each form has them. */
const read: Record<(typeof FORMATS)[number], (tool: Json) => { name: unknown; schema: Json }> = {
  openai: (tool) => {
    const called = tool['function'] as Json;
    expect(Object.keys(tool).toSorted()).toEqual(['function', 'type']);
    return { name: called['name'], schema: called['parameters'] as Json };
  },
  openai_responses: (tool) => {
    expect(tool).toMatchObject({ type: 'function', strict: false });
    return { name: tool['name'], schema: tool['parameters'] as Json };
  },
  anthropic: (tool) => ({ name: tool['name'], schema: tool['input_schema'] as Json }),
  gemini: (tool) => ({ name: tool['name'], schema: tool['parameters'] as Json }),
  mcp: (tool) => ({ name: tool['name'], schema: tool['inputSchema'] as Json }),
  json_schema: ({ title, description, ...schema }) => {
    expect(description).toEqual(expect.any(String));
    return { name: title, schema };
  },
};

describe('the rentals of a wallet as tools', () => {
  test.each(FORMATS)('in the form %s are one definition each, under one name [SVC-10]', async (format) => {
    const { status, body } = await get(`?format=${format}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ format, total: 3, limit: 20, offset: 0 });
    const tools = toolsIn(body).map(read[format]);
    const agents = tools.map(
      ({ schema }) => (schema['properties'] as { agent_id: { enum: string[] } }).agent_id.enum[0],
    );
    expect(new Set(agents)).toEqual(new Set(marketplace.dev.listings.map(({ id }) => id)));
    expect(agents).toHaveLength(3);
    for (const { name, schema } of tools) {
      expect(name).toMatch(/^[a-z][a-z0-9_]{0,39}$/);
      expect(schema).toMatchObject({ type: 'object', required: ['agent_id', 'task'] });
    }
    const asDefault = toolsIn((await get('')).body).map(read.openai);
    expect(tools).toEqual(asDefault);
  });

  test('are those of MCP, which takes files by input_uri as well', async () => {
    const { body } = await get('?format=mcp');
    const answer = await fetch(marketplace.dev.mcp_url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${renter.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    const message = (await answer.text()).split('\n').find((line) => line.startsWith('data: ')) ?? '';
    const { result } = JSON.parse(message.slice('data: '.length)) as { result: { tools: Json[] } };
    for (const tool of toolsIn(body)) {
      const { properties, ...schema } = tool['inputSchema'] as { properties: Json };
      const mcp = result.tools.find(({ name }) => name === tool['name']);
      const input_uri: unknown = expect.objectContaining({ type: 'string' });
      expect(mcp?.['inputSchema']).toEqual({ ...schema, properties: { ...properties, input_uri } });
    }
  });

  test('come in pages [SVC-10]', async () => {
    const pages = await Promise.all([0, 1, 2, 3].map((offset) => get(`?limit=1&offset=${offset}`)));
    expect(pages.map(({ body }) => toolsIn(body).length)).toEqual([1, 1, 1, 0]);
    const whole = toolsIn((await get('')).body);
    expect(pages.flatMap(({ body }) => toolsIn(body))).toEqual(whole);
  });

  test('are called with the arguments that the definition asks for', async () => {
    const { body } = await get('?format=json_schema');
    const request = await marketplace.request('per_query');
    const { id } = marketplace.listing('per_query');
    const tool = toolsIn(body).find((schema) => JSON.stringify(schema).includes(id));
    const properties = tool?.['properties'] as { input: { properties: Json } };
    expect(Object.keys(properties.input.properties)).toEqual(
      expect.arrayContaining(Object.keys(request['input'] as Json)),
    );
    const run = await call(marketplace, 'POST', '/v1/execute', { token: renter.token, body: request });
    expect(run.body).toMatchObject({ status: 'completed' });
  });

  test('come with what their listings are called with, where that is asked for [CRD-37]', async () => {
    const list = async (query: string) =>
      (await call(marketplace, 'GET', `/v1/credentials${query}`, { token: renter.token })).body[
        'credentials'
      ];
    for (const credential of (await list('?include=listing')) as Json[]) {
      const listing = await renter.client.getListing(String(credential['listing_id']));
      const { description, price_lamports, input_schema } = listing;
      expect(credential['listing']).toEqual({ description, price_lamports, input_schema });
    }
    for (const credential of (await list('')) as Json[]) expect(credential).not.toHaveProperty('listing');
    const refused = await call(marketplace, 'GET', '/v1/credentials?include=all', { token: renter.token });
    expect(refused.status).toBe(400);
  });

  test('of a wallet that rents nothing are none', async () => {
    const stranger = await newParticipant(marketplace);
    expect((await get('', stranger.token)).body).toMatchObject({ tools: [], total: 0 });
  });

  test.each(['?format=cobol', '?limit=101', '?colour=red'])('with %s are refused', async (query) => {
    expect((await get(query)).status).toBe(400);
  });

  test('are given by the sdk', async () => {
    const { tools, total } = await renter.client.listTools({ format: 'anthropic', limit: 2 });
    expect({ count: tools.length, total }).toEqual({ count: 2, total: 3 });
  });
});
