import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { createAgent, fakeModel } from 'langchain';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';

let marketplace: Marketplace;
let client: MultiServerMCPClient;
let tools: Awaited<ReturnType<MultiServerMCPClient['getTools']>>;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  client = new MultiServerMCPClient({
    mcpServers: {
      rentals: {
        transport: 'http',
        url: marketplace.dev.mcp_url,
        headers: { authorization: `Bearer ${marketplace.apiKey}` },
      },
    },
  });
  tools = await client.getTools();
});

afterAll(async () => client.close());

const nameOf = (model: 'one_time' | 'subscription' | 'per_query') =>
  marketplace.listing(model).id.replaceAll('-', '_');

async function askAgent(name: string, args: unknown): Promise<ToolMessage> {
  const model = fakeModel()
    .respondWithTools([{ name, args: args as Record<string, unknown>, id: 'call_1' }])
    .respond(new AIMessage('Done.'));
  const state = await createAgent({ model, tools }).invoke({ messages: [new HumanMessage('Go.')] });
  const found = state.messages.find((message) => ToolMessage.isInstance(message));
  if (found === undefined) throw new Error('no tool message');
  return found;
}

describe('LangChain’s own MCP adapter, on the marketplace’s /mcp', () => {
  test('loads every tool', () => {
    const names = tools.map((tool) => tool.name);
    expect(names).toEqual(
      expect.arrayContaining(['search_listings', 'run_agent', nameOf('one_time'), nameOf('per_query')]),
    );
  });

  test('runs a direct tool, by its published schema', async () => {
    const message = await askAgent(nameOf('one_time'), await marketplace.request('one_time'));
    expect(message.status, message.text).not.toBe('error');
    expect(message.text).toContain('[agent-rental] Run ');
  });

  test('refuses input that breaks the published schema, and sends nothing', async () => {
    const message = await askAgent(nameOf('per_query'), { task: 't' });
    expect(message.status).toBe('error');
    expect(message.text).toContain('did not match expected schema');
    expect(message.text).not.toContain('[agent-rental]');
  });

  test('runs run_agent in LangGraph’s ToolNode', async () => {
    // The direct tool above has made an equal call.
    const args = { ...(await marketplace.request('one_time')), new_run: true };
    const call = { name: 'run_agent', args, id: 'call_1', type: 'tool_call' as const };
    const state = await new ToolNode(tools).invoke({
      messages: [new AIMessage({ content: '', tool_calls: [call] })],
    });
    expect(JSON.stringify(state)).toContain('completed. Charged nothing.');
  });

  test('gives the model an error in words', async () => {
    const message = await askAgent('run_agent', { agent_id: 'absent-aaaaaa', task: 't' });
    expect(message.text).toContain('[agent-rental] listing_not_found');
    expect(message.text).not.toMatch(/\n\s+at /);
  });
});
