import { createClient } from '@agent-rental/sdk';
import { createStandIn, hangingAgent, STAND_IN_API_KEY, type StandIn } from '@agent-rental/stand-in';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect, it } from 'vitest';
import { rentedTools, type RentedToolsOptions } from './rented-tools.js';

const ID = 'echo-aaaaaa';

function toolsOf(standIn: StandIn, options?: RentedToolsOptions): ReturnType<typeof rentedTools> {
  const client = createClient({
    baseUrl: 'http://market.invalid',
    apiKey: STAND_IN_API_KEY,
    fetch: standIn.fetch,
    retries: 0,
  });
  return rentedTools(client, options);
}

const ask = { messages: [new HumanMessage('Sum this.')] };

function answering(args: Record<string, unknown>, name = 'echo_aaaaaa') {
  return fakeModel()
    .respondWithTools([{ name, args, id: 'call_1' }])
    .respond(new AIMessage('Done.'));
}

function toolMessage(state: { messages: unknown[] }): ToolMessage {
  const found = state.messages.find((message) => ToolMessage.isInstance(message));
  if (found === undefined) throw new Error('no tool message');
  return found;
}

describe('rentedTools', () => {
  it('publishes names, descriptions and portable schemas', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    expect(tools.map((tool) => tool.name)).toEqual([
      'search_listings',
      'get_listing',
      'run_agent',
      'get_run',
      'echo_aaaaaa',
    ]);
    expect(tools.at(-1)).toMatchObject({
      description: expect.stringContaining('Runs the rented agent "echo-aaaaaa"'),
      schema: { type: 'object', required: ['agent_id', 'task'] },
    });
  });

  it('lets an agent run a rented agent: text for the model, the whole result as artifact', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const model = answering({ agent_id: ID, task: 'sum', input: { text: 'x' } });
    const state = await createAgent({ model, tools: await toolsOf(standIn) }).invoke(ask);
    const output = { task: 'sum', input: { text: 'x' } };
    const message = toolMessage(state);
    expect(message.status).toBe('success');
    expect(message.content).toBe(
      `${JSON.stringify(output)}\n\n[agent-rental] Run run_1 completed. Charged 2000000 lamports (0.002 SOL).`,
    );
    expect(message.artifact).toMatchObject({ status: 'completed', structured: output, runId: 'run_1' });
    expect(state.messages.at(-1)?.content).toBe('Done.');
  });

  it.each([undefined, 'another-aaaaaa', 3])(
    'runs its agent whatever agent_id says (%j)',
    async (agent_id) => {
      const standIn = createStandIn([{ id: ID }]);
      const model = answering({ agent_id, task: 't' });
      const state = await createAgent({ model, tools: await toolsOf(standIn) }).invoke(ask);
      expect(toolMessage(state).artifact).toMatchObject({ status: 'completed', agentId: ID });
    },
  );

  it('streams the output as tool events', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const agent = createAgent({ model: answering({ task: 't' }), tools });
    const events: unknown[] = [];
    for await (const event of await agent.stream(ask, { streamMode: ['tools'] })) events.push(event);
    expect(JSON.stringify(events)).toContain('{"delta":"working"}');
  });

  it('reports a failure as an error message in words, without a stack trace', async () => {
    const standIn = createStandIn([{ id: ID, rental: 'none' }]);
    const model = answering({ agent_id: ID, task: 't' }, 'run_agent');
    const message = toolMessage(await createAgent({ model, tools: await toolsOf(standIn) }).invoke(ask));
    expect(message.status).toBe('error');
    expect(message.content).toMatch(/^\[agent-rental\] credential_not_found: .* Rent it first/);
    expect(message.content).not.toContain(' at ');
    expect(message.artifact).toMatchObject({
      error: { code: 'credential_not_found', requestId: 'req_stand_in' },
    });
  });

  it('tells the model what is wrong with its arguments', async () => {
    const model = answering({ agent_id: ID });
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const message = toolMessage(await createAgent({ model, tools }).invoke(ask));
    expect(message).toMatchObject({ status: 'error', content: expect.stringContaining('"task" is missing') });
  });

  it('pays once for a tool call of a thread, and again for that of another', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const tools = await toolsOf(standIn);
    const call = { name: 'echo_aaaaaa', args: { task: 't' }, id: 'call_1', type: 'tool_call' as const };
    const node = new ToolNode(tools);
    const state = { messages: [new AIMessage({ content: '', tool_calls: [call] })] };
    const inThread = (thread_id: string) => node.invoke(state, { configurable: { thread_id } });
    await inThread('one');
    await inThread('one');
    expect(standIn.charged).toBe(2_000_000);
    await inThread('two');
    expect(standIn.charged).toBe(4_000_000);
    // Another set of tools is another conversation, unless it is given the same scope.
    await (await toolsOf(standIn)).at(-1)?.invoke(call);
    expect(standIn.charged).toBe(6_000_000);
    await (await toolsOf(standIn, { scope: 'mine' })).at(-1)?.invoke(call);
    await (await toolsOf(standIn, { scope: 'mine' })).at(-1)?.invoke(call);
    expect(standIn.charged).toBe(8_000_000);
  });

  it('aborts the run when the graph is aborted', async () => {
    const agent = hangingAgent();
    const tools = await toolsOf(createStandIn([{ id: ID, run: agent.run }]));
    const controller = new AbortController();
    const outcome = createAgent({ model: answering({ task: 't' }), tools })
      .invoke(ask, { signal: controller.signal })
      .catch((error: unknown) => error);
    await agent.begun;
    controller.abort();
    await agent.aborted;
    expect(await outcome).toBeInstanceOf(Error);
  });
});
