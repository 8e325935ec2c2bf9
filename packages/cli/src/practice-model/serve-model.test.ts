import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { practiceAnswer } from './practice-answer.js';
import { servePracticeModel, type ServedModel } from './serve-model.js';

let model: ServedModel;
beforeEach(async () => {
  model = await servePracticeModel(0);
});
afterEach(() => model.close());

const ask = (body: unknown) =>
  fetch(`${model.baseUrl}/chat/completions`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const messages = [
  { role: 'system', content: 'Sing it.\nNever speak.' },
  { role: 'user', content: [{ type: 'text', text: 'The text.' }] },
];

describe('the practice model', () => {
  it('repeats prompt and task, and says that it does', async () => {
    const answer = (await (await ask({ model: 'practice', messages })).json()) as {
      choices: { message: { content: string } }[];
    };
    expect(answer.choices[0]?.message.content).toBe(
      'Practice model, which only repeats. Prompt: Sing it. Task: The text.',
    );
  });

  it('streams the same', async () => {
    const text = await (await ask({ model: 'practice', messages, stream: true })).text();
    expect(text).toContain('Prompt: Sing it. Task: The text.');
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it.each(['', '[]', '{"model":"practice","messages":[]}', '{"model":1,"messages":[{"role":"user"}]}'])(
    'refuses %j',
    async (body) => {
      expect((await ask(body)).status).toBe(400);
    },
  );

  it('serves nothing else, and nothing larger than 4 MiB', async () => {
    expect((await fetch(`${model.baseUrl}/models`)).status).toBe(404);
    const large = await ask('x'.repeat(4 * 1024 * 1024 + 1)).catch(() => undefined);
    expect(large?.status ?? 413).toBe(413);
  });

  it('answers in the requested form', () => {
    const schema = {
      type: 'object',
      properties: {
        said: { type: 'string' },
        kind: { enum: ['a', 'b'] },
        count: { type: 'integer', minimum: 3 },
        list: { type: 'array' },
        is: { type: 'boolean' },
        none: { type: ['null', 'string'] },
        one: { const: 1 },
      },
    };
    const asked = `Do it.\n\nYour final answer must be one JSON value and nothing else, valid against this JSON Schema:\n${JSON.stringify(schema)}`;
    expect(JSON.parse(practiceAnswer([{ role: 'user', text: asked }]))).toEqual({
      said: expect.stringContaining('Task: Do it.') as string,
      kind: 'a',
      count: 3,
      list: [],
      is: true,
      none: null,
      one: 1,
    });
  });
});
