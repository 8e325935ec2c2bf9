/**
 * The most frequent complaints of users of tool servers and adapters. Each test shows that one does not apply here. Other
 * files test these complaints:
 * - agents work longer than a client's 60 seconds: `mcp-long-runs.test.ts` (ADP-9);
 * - types are too deep for the compiler: `types-of-both-versions.test.ts` of the AI SDK adapter;
 * - retries after broken connections pay twice: `mcp-clients.test.ts` (ADP-9);
 * - one payment serves two concurrent runs: the tests of execution (RUN-3) and settlement;
 * - sandboxes leak: the abort battery;
 * - cold starts: `bench -- startup`.
 *
 * One complaint still applies: a remote server that needs a key and has no OAuth.
 */
import { createStandIn, hangingAgent, type StandInListing } from '@agent-rental/stand-in';
import { rentedToolset, type RentedTool } from '@agent-rental/tools';
import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, it } from 'vitest';
import * as z4 from 'zod';
import { z as z3 } from 'zod/v3';
import { zodToJsonSchema } from 'zod-to-json-schema';
import {
  anthropicBreaches,
  definitionBreaches,
  geminiBreaches,
  openAiBreaches,
} from '@agent-rental/test/support/provider-rules';
import { clientOver, FRAMEWORKS, isLeftOut } from './frameworks.js';

type Json = Record<string, unknown>;

const ID = 'echo-aaaaaa';
const many = (count: number): StandInListing[] =>
  Array.from({ length: count }, (_, index) => ({ id: `agent-${index}-aaaaaa`, title: `Agent ${index}` }));

async function toolsFor(listings: readonly StandInListing[]): Promise<readonly RentedTool[]> {
  return rentedToolset(clientOver(createStandIn(listings).fetch)).list();
}

async function directTool(listing: Omit<StandInListing, 'id'>): Promise<RentedTool> {
  const tool = (await toolsFor([{ id: ID, ...listing }])).find(({ agentId }) => agentId === ID);
  if (tool === undefined) throw new Error('no direct tool');
  return tool;
}

const breachesOf = (tool: RentedTool) => [
  ...definitionBreaches(tool),
  ...[openAiBreaches, anthropicBreaches, geminiBreaches].flatMap((judge) => judge(tool.inputSchema as Json)),
];

describe('it does not happen', () => {
  it('that tools fill the context: 200 rentals are 30 tools, the others found by search', async () => {
    const tools = await toolsFor(many(200));
    expect(tools.filter(({ agentId }) => agentId !== undefined)).toHaveLength(30);
    const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    // A twentieth of a context window of 200,000 tokens.
    expect(new Tiktoken(ranks).encode(JSON.stringify(sent)).length).toBeLessThan(10_000);
  });

  it('that a name is too long with a client’s prefix', async () => {
    const tools = await toolsFor([{ id: 'very-long-name-of-agents-aaaaaa' }, ...many(3)]);
    for (const { name } of tools)
      expect(`mcp__agent_rentals_io__${name}`).toMatch(/^[a-z][a-zA-Z0-9_]{0,63}$/);
  });

  it.each(Object.keys(FRAMEWORKS).filter((name) => !isLeftOut(name)))(
    'that one bad schema breaks the session in %s',
    async (framework) => {
      const bad = [
        { anyOf: [{ type: 'string' }, { type: 'array' }] },
        { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
        { type: 'object', properties: { list: { type: 'array' } }, additionalProperties: { type: 'null' } },
        { type: 'object', properties: { p: { type: 'string', pattern: '^(a+)+$' } } },
        JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(60)}{}${'}}'.repeat(60)}`) as Json,
      ];
      const listings = bad.map((input_schema, index) => ({ id: `bad-${index}-aaaaaa`, input_schema }));
      const standIn = createStandIn([...listings, { id: ID }] as StandInListing[]);
      const client = clientOver(standIn.fetch);
      for (const tool of await rentedToolset(client).list()) expect(breachesOf(tool)).toEqual([]);
      const seen = await FRAMEWORKS[framework]?.(client, 'echo_aaaaaa', { agent_id: ID, task: 't' });
      expect(seen?.isError).toBe(false);
    },
  );

  it('that zod 3 and zod 4 make different tools of the same schema', async () => {
    const of4 = z4.toJSONSchema(z4.object({ text: z4.string().min(1), n: z4.number().optional() }));
    const of3 = zodToJsonSchema(z3.object({ text: z3.string().min(1), n: z3.number().optional() }));
    const [four, three] = await Promise.all(
      [of4, of3].map((input_schema) => directTool({ input_schema: input_schema as never })),
    );
    expect(three?.inputSchema).toEqual(four?.inputSchema);
    expect(JSON.stringify(four?.inputSchema)).toContain('"n"');
  });

  it('that output schemas slow the discovery of tools: none is published', async () => {
    const output_schema = { type: 'object', properties: { total: { type: 'number' } } };
    const tool = await directTool({ output_schema });
    expect(Object.keys(tool)).not.toContain('outputSchema');
  });

  it('that a model must invent an idempotency key, and invents another one for a retry', async () => {
    const properties = (await toolsFor(many(1))).flatMap(({ inputSchema }) =>
      Object.keys((inputSchema as { properties?: object }).properties ?? {}),
    );
    expect(properties.filter((name) => /idempot|unique|nonce|request_id/i.test(name))).toEqual([]);
  });

  it('that a retried call pays twice, or two at once', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const tool = await rentedToolset(clientOver(standIn.fetch)).find('echo_aaaaaa');
    const call = { scope: 'conversation', toolCallId: 'call_1' };
    await Promise.all([1, 2, 3].map(async () => tool?.invoke({ task: 't' }, { call })));
    expect(standIn.charged).toBe(2_000_000);
  });

  it('that a run continues, and is billed, after its client has gone', async () => {
    const agent = hangingAgent();
    const client = clientOver(createStandIn([{ id: ID, run: agent.run }]).fetch);
    const tool = await rentedToolset(client).find('echo_aaaaaa');
    const controller = new AbortController();
    const running = tool?.invoke({ task: 't' }, { signal: controller.signal }).catch(() => undefined);
    await agent.started;
    controller.abort();
    await agent.aborted;
    await running;
  });

  it('that a private key is an argument of a tool', async () => {
    const schemas = (await toolsFor(many(1))).map(({ inputSchema }) => JSON.stringify(inputSchema));
    for (const schema of schemas)
      expect(schema).not.toMatch(/secret|private|mnemonic|seed|api_?key|keypair|password/i);
  });
});
