import { describe, expect, it } from 'vitest';
import { isLarge, readLargeJson } from './json-body.js';

const read = (text: string | Uint8Array, operationId?: string) =>
  readLargeJson(Buffer.from(text), operationId);
const refusal = (text: string | Uint8Array, operationId?: string) =>
  read(text, operationId).then(
    () => 'read',
    (error: Error) => error.message,
  );

describe('a large body', () => {
  it.each([
    ['of few bytes', '{"a":[1,2,3]}', false],
    ['of many bytes', JSON.stringify('x'.repeat(70_000)), true],
    ['of many values', `[${'[],'.repeat(2_500)}[]]`, true],
    ['that is one text of 60 KB', JSON.stringify('['.repeat(60_000)), false],
  ])('%s is found', (_, text, large) => {
    expect(isLarge(Buffer.from(text))).toBe(large);
  });

  it('is read as it is, by the schema of its operation where one is named', async () => {
    const body = { agent_id: 'a-aaaaaa', task: 'x'.repeat(90_000) };
    expect(await read(JSON.stringify(body))).toEqual(body);
    expect(await read(JSON.stringify(body), 'execute')).toEqual({ ...body, priority: 'standard' });
    expect(await refusal(JSON.stringify({ ...body, task: 1 }), 'execute')).toMatch(
      /^The body is not valid: task:/,
    );
  });

  it.each([
    ['is no JSON', 'x'.repeat(100_000), /^Bad Request: /],
    ['is no UTF-8', new Uint8Array(100_000).fill(0xff), /not valid UTF-8/],
    ['could reach a prototype', '{"__proto__":{"x":1}}', /^Bad Request: .*prototype/],
    ['has too many levels', `${'['.repeat(2_000)}${']'.repeat(2_000)}`, /nested too deeply/],
    ['has too many values', `[${'[],'.repeat(500_000)}[]]`, /more than 20000 values.*POST \/v1\/files/],
  ])('that %s is refused [ERR-33]', async (_, text, why) => {
    expect(await refusal(text)).toMatch(why);
  });

  it('names few of its problems, however many it has [ERR-33]', async () => {
    const policy = Array.from({ length: 9_000 }, () => []);
    const message = await refusal(JSON.stringify({ agent_id: policy, task: policy }), 'execute');
    expect(message.length).toBeLessThan(1_200);
  });
});
