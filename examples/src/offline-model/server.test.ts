import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../testing/run-program.js';
import { OFFLINE_MODEL_ID, serveOfflineModel, type OfflineModel } from './index.js';

const apiKey = 'key-of-this-test';
const program = 'const text = "`";\nreturn { doubled: input * 2, text };';
const messages = [
  { role: 'system', content: `Do it.\n\n\`\`\`js\n${program}\n\`\`\`\nThat was it.` },
  { role: 'user', content: 'Go.' },
];
const tools = [{ type: 'function', function: { name: 'run_javascript', parameters: { type: 'object' } } }];
const toolRound = [
  { role: 'assistant', content: null, tool_calls: [] },
  { role: 'tool', tool_call_id: 'call_1', content: '{"doubled":42}' },
];

let model: OfflineModel;
beforeAll(async () => {
  model = await serveOfflineModel({ port: 0, apiKey });
});
afterAll(() => model.close());

const send = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

interface Message {
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

async function complete(body: object): Promise<{
  choices: { index: number; message: Message; finish_reason: string }[];
  usage: { total_tokens: number };
}> {
  const response = await send({ model: OFFLINE_MODEL_ID, messages, ...body });
  expect(response.status).toBe(200);
  return (await response.json()) as Awaited<ReturnType<typeof complete>>;
}

async function stream(
  body: object,
): Promise<{ chunks: Record<string, unknown>[]; last: string | undefined }> {
  const response = await send({ model: OFFLINE_MODEL_ID, messages, stream: true, ...body });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const data = (await response.text())
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));
  const last = data.pop();
  return { chunks: data.map((chunk) => JSON.parse(chunk) as Record<string, unknown>), last };
}

describe('chat completions', () => {
  it('hands on the program of the prompt, unchanged, as the final answer', async () => {
    const { choices } = await complete({ tools });
    const call = choices[0]?.message.tool_calls?.[0]?.function;
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(call?.name).toBe('run_javascript');
    const given = JSON.parse(call?.arguments ?? '') as { code: string; final: boolean };
    expect(given).toEqual({ code: program, final: true });
    expect(await runProgram(given.code, 21)).toEqual({ doubled: 42, text: '`' });
  });

  it('repeats the tool’s answer, until the user speaks again', async () => {
    const after = await complete({ tools, messages: [...messages, ...toolRound] });
    expect(after.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '{"doubled":42}' } });
    const again = await complete({
      tools,
      messages: [...messages, ...toolRound, { role: 'user', content: '?' }],
    });
    expect(again.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it.each([
    ['there is no program', { tools, messages: [{ role: 'user', content: `\`\`\`js\n${program}\n\`\`\`` }] }],
    ['there is no tool', {}],
    ['no tool may be called', { tools, tool_choice: 'none' }],
    ['the block never ends', { tools, messages: [{ role: 'system', content: '```js\nreturn 1;' }] }],
  ])('says that it is a stand-in where %s', async (_, body) => {
    const { choices } = await complete(body);
    expect(choices[0]?.message.content).toMatch(/offline stand-in and not a language model.*OPENAI_API_KEY/);
    expect(choices[0]?.message.tool_calls).toBeUndefined();
  });

  it('reads content given in parts', async () => {
    const content = messages.map(({ content: text }) => [{ type: 'text', text }]);
    const { choices } = await complete({ tools, messages: [{ role: 'developer', content: content[0] }] });
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('gives as many choices as asked for, and the same bytes each time', async () => {
    const body = { model: OFFLINE_MODEL_ID, messages, tools, n: 3 };
    const [one, two] = await Promise.all([send(body), send(body)]);
    const text = await one.text();
    expect(await two.text()).toBe(text);
    const { choices } = JSON.parse(text) as { choices: { index: number }[] };
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  it('streams the answer that it gives at once otherwise', async () => {
    const { chunks, last } = await stream({ tools, n: 2, stream_options: { include_usage: true } });
    expect(last).toBe('[DONE]');
    const usage = chunks.pop();
    expect(usage).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    const whole = await complete({ tools, n: 2 });
    expect(usage?.['usage']).toEqual(whole.usage);
    for (const index of [0, 1]) {
      const own = chunks
        .map(
          (chunk) =>
            (chunk['choices'] as { index: number; delta: Message; finish_reason: string | null }[])[0],
        )
        .filter((choice) => choice?.index === index);
      const call = whole.choices[index]?.message.tool_calls?.[0];
      expect(own[0]?.delta.tool_calls?.[0]?.id).toBe(call?.id);
      const streamed = own.map((choice) => choice?.delta.tool_calls?.[0]?.function.arguments ?? '').join('');
      expect(streamed).toBe(call?.function.arguments);
      expect(own.at(-1)?.finish_reason).toBe('tool_calls');
    }
  });

  it('streams long text in pieces that never cut a character', async () => {
    const text = `x${'😀'.repeat(5_000)}`;
    const { chunks } = await stream({ messages: [...messages, { role: 'tool', content: text }] });
    const pieces = chunks.map(
      (chunk) => (chunk['choices'] as { delta: { content?: string } }[])[0]?.delta.content ?? '',
    );
    expect(pieces.join('')).toBe(text);
    expect(pieces.length).toBeGreaterThan(9);
    expect(pieces.every((piece) => Buffer.from(piece).toString() === piece)).toBe(true);
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
  });
});

describe('refusals', () => {
  it.each([
    ['{', 400, 'invalid_json', null],
    ['[]', 400, 'invalid_type', null],
    [{ messages }, 400, 'invalid_value', 'model'],
    [{ model: 'gpt-9', messages }, 404, 'model_not_found', 'model'],
    [{ model: OFFLINE_MODEL_ID }, 400, 'invalid_value', 'messages'],
    [{ model: OFFLINE_MODEL_ID, messages: [] }, 400, 'invalid_value', 'messages'],
    [{ model: OFFLINE_MODEL_ID, messages: [null] }, 400, 'invalid_value', 'messages[0]'],
    [
      { model: OFFLINE_MODEL_ID, messages: [{ role: 'king', content: '' }] },
      400,
      'invalid_value',
      'messages[0].role',
    ],
    [{ model: OFFLINE_MODEL_ID, messages: [{ role: 'user' }] }, 400, 'invalid_value', 'messages[0].content'],
    [{ model: OFFLINE_MODEL_ID, messages, n: 0 }, 400, 'invalid_value', 'n'],
    [{ model: OFFLINE_MODEL_ID, messages, n: 1e9 }, 400, 'invalid_value', 'n'],
    [{ model: OFFLINE_MODEL_ID, messages, stream: 'yes' }, 400, 'invalid_value', 'stream'],
    [{ model: OFFLINE_MODEL_ID, messages, tools: [{}] }, 400, 'invalid_value', 'tools[0].function'],
    [`"${'x'.repeat(9 * 1024 * 1024)}"`, 413, 'body_too_large', null],
  ])('%j', async (body, status, code, param) => {
    const response = await send(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String), code, param } });
  });

  it.each(['', 'Bearer ', 'Bearer wrong', apiKey])('the key %j', async (authorization) => {
    const response = await send({ model: OFFLINE_MODEL_ID, messages }, { authorization });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  it('paths that it does not have', async () => {
    const response = await fetch(`${model.baseUrl}/embeddings`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'unknown_url' } });
  });
});

it('lists itself, under a name that describes it', async () => {
  const response = await fetch(`${model.baseUrl}/models`, { headers: { authorization: `Bearer ${apiKey}` } });
  expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'offline-example-model' }] });
});

it('says when its port is taken', async () => {
  const port = Number(new URL(model.baseUrl).port);
  await expect(serveOfflineModel({ port, apiKey })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
