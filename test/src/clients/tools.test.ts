import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import {
  anthropicBreaches,
  definitionBreaches,
  geminiBreaches,
  openAiBreaches,
} from '../support/provider-rules.js';
import { call } from '../support/http.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { rentOverHttp } from '../support/renter.js';

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
/** The definitions of a page, one a rental. */
const toolsIn = (body: Json) => {
  const tools = body['tools'] as Json[];
  return body['format'] === 'gemini'
    ? tools.flatMap((tool) => tool['functionDeclarations'] as Json[])
    : tools;
};

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

const text = z.string().min(1);
const parameters = z.looseObject({ type: z.literal('object'), properties: z.record(text, z.unknown()) });
const described = { name: z.string().regex(/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/), description: text };

/**
 * `tools` of a request as the vendors document it. Vendors refuse or ignore unknown fields.
 *
 * - https://platform.openai.com/docs/api-reference/chat/create
 * - https://platform.openai.com/docs/api-reference/responses/create
 * - https://docs.anthropic.com/en/api/messages
 * - https://ai.google.dev/api/caching#Tool
 * - https://modelcontextprotocol.io/specification/2025-11-25/schema#tool
 */
const VENDORS = {
  openai: z.strictObject({
    type: z.literal('function'),
    function: z.strictObject({ ...described, parameters, strict: z.boolean().optional() }),
  }),
  openai_responses: z.strictObject({
    type: z.literal('function'),
    ...described,
    parameters,
    // Required there, and true where it is left out.
    strict: z.literal(false),
  }),
  anthropic: z.strictObject({ ...described, input_schema: parameters }),
  gemini: z.strictObject({
    functionDeclarations: z.array(z.strictObject({ ...described, parameters })).min(1),
  }),
  mcp: z.strictObject({ ...described, title: text, inputSchema: parameters }),
  json_schema: parameters.extend({ title: text, description: text }),
};
const BREACHES = { openai: openAiBreaches, anthropic: anthropicBreaches, gemini: geminiBreaches };

describe('the rentals of a wallet as tools', () => {
  test.each(FORMATS)('in the form %s are the tools of a request as it is documented', async (format) => {
    const { body } = await get(`?format=${format}`);
    const tools = body['tools'] as Json[];
    expect(tools).toHaveLength(format === 'gemini' ? 1 : 3);
    for (const tool of tools) expect(VENDORS[format].safeParse(tool).error?.issues ?? []).toEqual([]);
  });

  test.each(['openai', 'anthropic', 'gemini'] as const)(
    'keep the rules for schemas of %s, and take files by input_uri',
    async (format) => {
      const { body } = await get(`?format=${format}`);
      for (const tool of toolsIn(body)) {
        const { schema } = read[format](tool);
        expect(BREACHES[format](schema)).toEqual([]);
        expect(schema['properties']).toHaveProperty('input_uri.type', 'string');
        const named = (format === 'openai' ? tool['function'] : tool) as {
          name: string;
          description: string;
        };
        expect(definitionBreaches(named)).toEqual([]);
      }
    },
  );

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

  test('equal the tools of MCP', async () => {
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
      expect(result.tools.find(({ name }) => name === tool['name'])).toMatchObject(tool);
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

  test('are used by a model over plain HTTP as docs/http-tools.md says', async () => {
    const page = await readFile(new URL('../../../docs/http-tools.md', import.meta.url), 'utf8');
    const program = /```js\n([^]*?)```/.exec(page)?.[1] ?? '';
    const request = await marketplace.request('per_query');
    const called: Json[] = [];
    const model = createServer((incoming, answer) => {
      void (async () => {
        let body = '';
        for await (const chunk of incoming) body += String(chunk);
        const asked = JSON.parse(body) as { messages: Json[]; tools: Json[] };
        called.push(asked);
        const last = asked.messages.at(-1);
        const tool = asked.tools.find((one) => JSON.stringify(one).includes(String(request['agent_id'])));
        const { name } = (tool?.['function'] ?? {}) as { name: string };
        const message =
          last?.['role'] === 'user'
            ? {
                role: 'assistant',
                content: null,
                tool_calls: [
                  { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(request) } },
                ],
              }
            : { role: 'assistant', content: `The agent says: ${String(last?.['content'])}` };
        answer.writeHead(200, { 'content-type': 'application/json' });
        answer.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
      })();
    }).listen(0, '127.0.0.1');
    await once(model, 'listening');
    onTestFinished(() => void model.close());
    const folder = await mkdtemp(join(tmpdir(), 'agent-rental-tools-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'tools.mjs'), program);
    const { stdout } = await promisify(execFile)(process.execPath, ['tools.mjs', 'Reconcile this.'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        MARKETPLACE_URL: marketplace.dev.base_url,
        MARKETPLACE_KEY: renter.token,
        MODEL_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}`,
        MODEL_KEY: 'sk-stand-in',
      },
    });
    expect(stdout).toMatch(/^The agent says: completed: \{.*"totals"/);
    expect(called).toHaveLength(2);
    expect(called[0]?.['tools']).toEqual((await get('?format=openai')).body['tools']);
  });

  test('come with the call data of their listings, on request [CRD-37]', async () => {
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

  test('of a wallet that rents nothing are an empty list', async () => {
    const stranger = await newParticipant(marketplace);
    for (const format of FORMATS) {
      const { body } = await get(`?format=${format}`, stranger.token);
      expect(body).toMatchObject({ tools: [], total: 0 });
    }
  });

  test.each(['?format=cobol', '?limit=101', '?colour=red', '?cursor=nonsense'])(
    'with %s are refused',
    async (query) => {
      expect((await get(query)).status).toBe(400);
    },
  );

  test('are given by the sdk', async () => {
    const { tools, total, next_cursor } = await renter.client.listTools({ format: 'anthropic', limit: 2 });
    expect({ count: tools.length, total }).toEqual({ count: 2, total: 3 });
    expect(next_cursor).toBeDefined();
    const rest = await renter.client.listTools({ format: 'anthropic', limit: 2, cursor: next_cursor });
    const skipped = await renter.client.listTools({ format: 'anthropic', limit: 2, offset: 2 });
    expect(rest).toMatchObject({ tools: skipped.tools, total: 3 });
    expect([skipped.tools.length, rest.next_cursor]).toEqual([1, undefined]);
  });
});
