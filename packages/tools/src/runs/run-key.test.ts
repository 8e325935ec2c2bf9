import { describe, expect, it } from 'vitest';
import { runKey } from './run-key.js';

const call = {
  scope: 'thread-1',
  toolCallId: 'call-1',
  agentId: 'echo-aaaaaa',
  args: { task: 't', input: { a: 1, b: 2 } },
};

describe('runKey', () => {
  it('is the same for the same call, with its arguments in any order', async () => {
    const key = await runKey(call);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(await runKey({ ...call, args: { input: { b: 2, a: 1 }, task: 't', more: undefined } })).toBe(key);
  });

  it.each([
    { scope: 'thread-2' },
    { toolCallId: 'call-2' },
    { agentId: 'other-aaaaaa' },
    { args: { task: 't', input: { a: 1 } } },
  ])('is another for %j', async (change) => {
    expect(await runKey({ ...call, ...change })).not.toBe(await runKey(call));
  });
});
