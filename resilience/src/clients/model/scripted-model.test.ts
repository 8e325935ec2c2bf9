import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from './scripted-model.js';

const wish = { tool: 'run_agent', args: { task: 't' } };

async function ask(path: string, body: object): Promise<string> {
  const model = await startScriptedModel(wish);
  onTestFinished(() => model.close());
  const answer = await fetch(`${model.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return answer.text();
}

const tool = { type: 'function', function: { name: 'rental_run_agent' } };

it('a scripted model calls a tool by its client’s name', async () => {
  const { choices } = JSON.parse(await ask('/chat/completions', { messages: [], tools: [tool] })) as {
    choices: { message: object }[];
  };
  expect(choices[0]?.message).toMatchObject({
    tool_calls: [{ function: { name: 'rental_run_agent', arguments: '{"task":"t"}' } }],
  });
});

it('a scripted model streams to clients that ask for it', async () => {
  const text = await ask('/chat/completions', { stream: true, messages: [], tools: [tool] });
  expect(text).toContain('"name":"rental_run_agent"');
  expect(text).toMatch(/"finish_reason":"tool_calls".*\n\ndata: \[DONE\]\n\n$/);
});

it('a scripted model names the conversation when a request offers no tools', async () => {
  expect(await ask('/messages', { messages: [] })).toContain('"text":"A title"');
});

it('a scripted model searches for a hidden tool, then calls it', async () => {
  const tools = [{ name: 'ToolSearch' }];
  const told = { role: 'user', content: 'There are mcp__rental__get_run and mcp__rental__run_agent.' };
  const search = { query: 'select:mcp__rental__run_agent' };
  expect(JSON.parse(await ask('/messages', { messages: [told], tools }))).toMatchObject({
    content: [{ type: 'tool_use', name: 'ToolSearch', input: search }],
  });
  const searched = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: '1', name: 'ToolSearch', input: search }],
  };
  const found = { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'found' }] };
  expect(JSON.parse(await ask('/messages', { messages: [told, searched, found], tools }))).toMatchObject({
    content: [{ name: 'mcp__rental__run_agent', input: wish.args }],
  });
});
