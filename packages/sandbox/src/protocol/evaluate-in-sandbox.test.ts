import { BEGUN_LINE } from '@agent-rental/agent-runner';
import { expect, test } from 'vitest';
import { SandboxFaultError } from '../sandbox.js';
import { evaluateInSandbox } from './evaluate-in-sandbox.js';
import { FakeSandbox } from './fake-sandbox.test-support.js';

const RESULT = { value: 3, stdout: '' };

/** Evaluates code in these sandboxes, in order. Each reacts to its code. */
async function evaluate(...reactions: ((sandbox: FakeSandbox) => void)[]) {
  const waits: boolean[] = [];
  const pool = {
    take: async () => {
      const sandbox = new FakeSandbox();
      const react = reactions.shift();
      sandbox.onSend = () => react?.(sandbox);
      return sandbox;
    },
  };
  const onWaiting = (isWaiting: boolean) => void waits.push(isWaiting);
  const ending = await evaluateInSandbox(
    pool,
    { code: 'return 3', task: 'x' },
    { timeoutMs: 60_000, onWaiting },
  ).catch((error: unknown) => error);
  return { ending, waits, unused: reactions.length };
}

const works = (sandbox: FakeSandbox) => {
  sandbox.say(BEGUN_LINE);
  sandbox.say(RESULT);
  sandbox.end();
};
const isLost = (sandbox: FakeSandbox) => {
  sandbox.say(BEGUN_LINE);
  sandbox.end('lost');
};
const endsBefore = (sandbox: FakeSandbox) => sandbox.end('crashed');

test.each([
  ['was lost', isLost],
  ['ended before it had the code', endsBefore],
])('code runs again when its sandbox %s', async (_, fails) => {
  expect(await evaluate(fails, works)).toMatchObject({ ending: RESULT, unused: 0 });
});

test('a second lost sandbox is a fault of the service', async () => {
  const { ending, unused } = await evaluate(isLost, endsBefore, works);
  expect(ending).toBeInstanceOf(SandboxFaultError);
  expect(unused).toBe(1);
});

test('code that ends its own process does not run again', async () => {
  const ends = (sandbox: FakeSandbox) => {
    sandbox.say(BEGUN_LINE);
    sandbox.end('crashed');
  };
  const { ending, waits, unused } = await evaluate(ends, works);
  expect(ending).toMatchObject({ error: expect.stringContaining('broke its process') });
  expect(waits).toEqual([true, false]);
  expect(unused).toBe(1);
});

test.each(['output_too_large', 'line_too_long'] as const)(
  'code whose flood takes the first line with it is no fault of the service: %s',
  async (reason) => {
    const { ending, unused } = await evaluate((sandbox) => sandbox.end(reason), works);
    expect(ending).toMatchObject({ error: 'The code returned or printed more than it may.' });
    expect(unused).toBe(1);
  },
);
