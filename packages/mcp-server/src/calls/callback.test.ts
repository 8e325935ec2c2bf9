import { createStandIn } from '@agent-rental/stand-in';
import { expect, it } from 'vitest';
import { MCP_CLIENTS } from '../testing/mcp-clients.js';
import { connect, serve } from '../testing/opened.js';

const NAMES = Object.keys(MCP_CLIENTS);
const URL_OF_HOOK = 'https://hook.example/a';

it.each(NAMES)('a call tells its callback in _meta of the end of its run: %s', async (name) => {
  const standIn = createStandIn([{ id: 'echo-aaaaaa' }]);
  const client = await connect(name, await serve(standIn));
  const meta = { 'agent-rental/callback': { url: URL_OF_HOOK, events: ['run.failed'] } };
  const args = { agent_id: 'echo-aaaaaa', task: 't' };
  for (const tool of ['run_agent', 'echo_aaaaaa']) {
    await client.callTool(tool, { ...args, task: tool }, { meta });
    expect(standIn.requests.at(-1)?.body).toEqual({
      ...args,
      task: tool,
      callback_url: URL_OF_HOOK,
      callback_events: ['run.failed'],
    });
  }
});

it.each(NAMES)('a call with a callback of a wrong form runs nothing: %s', async (name) => {
  const standIn = createStandIn([{ id: 'echo-aaaaaa' }]);
  const client = await connect(name, await serve(standIn));
  for (const callback of [URL_OF_HOOK, null, { url: 'no address' }, { url: URL_OF_HOOK, events: ['x'] }]) {
    const meta = { 'agent-rental/callback': callback };
    await expect(client.callTool('echo_aaaaaa', { task: 't' }, { meta })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('agent-rental/callback') as string,
    });
  }
  expect(standIn.charged).toBe(0);
});
