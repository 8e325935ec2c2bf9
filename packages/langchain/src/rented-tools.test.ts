import { createClient } from '@agent-rental/sdk';
import { createStandIn, hangingAgent, STAND_IN_API_KEY, type StandIn } from '@agent-rental/stand-in';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { StructuredTool } from '@langchain/core/tools';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';
import { MemorySaver } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createAgent, fakeModel } from 'langchain';
import { describe, expect, it } from 'vitest';
import { DELTA_EVENT, rentedTools, type RentedToolsOptions } from './rented-tools.js';

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

function directTool(tools: StructuredTool[]): StructuredTool {
  const found = tools.find((tool) => tool.name === 'echo_aaaaaa');
  if (found === undefined) throw new Error('no direct tool');
  return found;
}

function toolMessage(state: { messages: unknown[] }): ToolMessage {
  const found = state.messages.find((message) => ToolMessage.isInstance(message));
  if (found === undefined) throw new Error('no tool message');
  return found;
}

describe('rentedTools', () => {
  it('publishes names, descriptions and portable schemas', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    expect(tools.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(['search_listings', 'get_listing', 'run_agent', 'get_run', 'echo_aaaaaa']),
    );
    expect(directTool(tools)).toMatchObject({
      description: expect.stringContaining('Rented agent "echo-aaaaaa"'),
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
    expect(message.artifact).toMatchObject({
      status: 'completed',
      structured: output,
      runId: 'run_1',
      costLamports: 2_000_000,
      receiptPath: '/v1/runs/run_1/receipt',
    });
    expect(state.messages.at(-1)?.content).toBe('Done.');
  });

  it.each([undefined, 'another-aaaaaa', 3])(
    'runs its agent with any agent_id (%j) [ADP-1]',
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

  it('shows the output as custom events of streamEvents v2', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const agent = createAgent({ model: answering({ task: 't' }), tools });
    const events: unknown[] = [];
    for await (const { event, name, data } of agent.streamEvents(ask, { version: 'v2' })) {
      if (event === 'on_custom_event') events.push({ name, data: data as unknown });
    }
    expect(events).toEqual([{ name: DELTA_EVENT, data: { delta: 'working', toolCallId: 'call_1' } }]);
  });

  it('streams without a listener', async () => {
    const message = await directTool(await toolsOf(createStandIn([{ id: ID }]))).invoke({ task: 't' });
    expect(message).toContain('Run run_1 completed.');
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

  it('tells the model the fault of its arguments', async () => {
    const model = answering({ agent_id: ID });
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const message = toolMessage(await createAgent({ model, tools }).invoke(ask));
    expect(message).toMatchObject({ status: 'error', content: expect.stringContaining('"task" is missing') });
  });

  it.each(['text', [['a']], 7, null])('tells the model that arguments are no object (%j)', async (args) => {
    const standIn = createStandIn([{ id: ID }]);
    const call = { name: 'echo_aaaaaa', args, id: 'call_1', type: 'tool_call' };
    const message = (await directTool(await toolsOf(standIn)).invoke(call as never)) as ToolMessage;
    expect(message).toMatchObject({ status: 'error', content: expect.stringContaining('not an object') });
    expect(standIn.charged).toBe(0);
  });

  it('is bound to a model as any tool is', async () => {
    const tools = await toolsOf(createStandIn([{ id: ID }]));
    const bound = tools.map((tool) => convertToOpenAITool(tool));
    expect(bound.find((tool) => tool.function.name === 'echo_aaaaaa')).toMatchObject({
      type: 'function',
      function: { parameters: { type: 'object', required: ['agent_id', 'task'] } },
    });
    const model = answering({ task: 't' }).bindTools(tools);
    expect(await model.invoke('Sum this.')).toMatchObject({ tool_calls: [{ name: 'echo_aaaaaa' }] });
  });

  it('keeps the callbacks and metadata that a tool is given later', async () => {
    const tool = directTool(await toolsOf(createStandIn([{ id: ID }])));
    const ended: unknown[] = [];
    tool.metadata = { team: 'finance' };
    tool.callbacks = [{ handleToolEnd: (output: unknown) => void ended.push(output) }];
    const message = await tool.invoke({ task: 't' });
    expect(ended).toEqual([message]);
  });

  describe('pays', () => {
    const call = { name: 'echo_aaaaaa', args: { task: 't' }, id: 'call_1', type: 'tool_call' as const };

    it('once for a tool call of a thread, and again for the same call of another thread', async () => {
      const standIn = createStandIn([{ id: ID }]);
      const node = new ToolNode(await toolsOf(standIn));
      const state = { messages: [new AIMessage({ content: '', tool_calls: [call] })] };
      const inThread = (thread_id: string) => node.invoke(state, { configurable: { thread_id } });
      await inThread('one');
      await inThread('one');
      expect(standIn.charged).toBe(2_000_000);
      await inThread('two');
      expect(standIn.charged).toBe(4_000_000);
    });

    it('once in a scope of a given name, and again in another set of tools', async () => {
      const standIn = createStandIn([{ id: ID }]);
      const once = async (scope?: string) => directTool(await toolsOf(standIn, { scope })).invoke(call);
      await once('mine');
      await once('mine');
      expect(standIn.charged).toBe(2_000_000);
      await once();
      await once();
      expect(standIn.charged).toBe(6_000_000);
    });

    it('for each conversation of an agent without threads, though call ids repeat', async () => {
      const standIn = createStandIn([{ id: ID }]);
      const tools = await toolsOf(standIn);
      for (let round = 0; round < 2; round += 1) {
        await createAgent({ model: answering({ task: 't' }), tools }).invoke(ask);
      }
      expect(standIn.charged).toBe(4_000_000);
    });

    it('once for a step that resumes from its checkpoint', async () => {
      const hanging = hangingAgent();
      const standIn = createStandIn([{ id: ID, run: hanging.run }]);
      const model = answering({ task: 't' });
      const tools = await toolsOf(standIn);
      const agent = createAgent({ model, tools, checkpointer: new MemorySaver() });
      const thread = { configurable: { thread_id: 'one' } };
      const controller = new AbortController();
      const broken = agent
        .invoke(ask, { ...thread, signal: controller.signal })
        .catch((error: unknown) => error);
      await hanging.started;
      controller.abort();
      await broken;
      const state = await agent.invoke(null as never, thread);
      expect(toolMessage(state).artifact).toMatchObject({ runId: 'run_1' });
      expect(standIn.charged).toBe(2_000_000);
    });
  });

  it('aborts the run when the graph is aborted', async () => {
    const agent = hangingAgent();
    const tools = await toolsOf(createStandIn([{ id: ID, run: agent.run }]));
    const controller = new AbortController();
    const outcome = createAgent({ model: answering({ task: 't' }), tools })
      .invoke(ask, { signal: controller.signal })
      .catch((error: unknown) => error);
    await agent.started;
    controller.abort();
    await agent.aborted;
    expect(await outcome).toBeInstanceOf(Error);
  });
});
