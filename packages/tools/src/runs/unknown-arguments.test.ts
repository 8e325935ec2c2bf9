import type { JsonObject } from '@agent-rental/contract';
import { createStandIn } from '@agent-rental/stand-in';
import { expect, it } from 'vitest';
import { clientOf, toolOf } from '../testing/tools-of.js';

const TEXT = { type: 'string' };
const NESTED = {
  type: 'object',
  properties: { document: { type: 'object', properties: { text: TEXT } }, pages: { type: 'integer' } },
};

/** The answer of a direct tool, the charge, and the spend that was told before. */
async function call(input_schema: JsonObject, args: Record<string, unknown>) {
  const standIn = createStandIn([{ id: 'echo-aaaaaa', input_schema }]);
  const tool = await toolOf(clientOf(standIn), 'echo_aaaaaa');
  const { kind } = await tool.spending(args);
  const { text } = await tool.invoke(args);
  return { text, kind, charged: standIn.charged };
}

it.each<[string, JsonObject, Record<string, unknown>, string]>([
  [
    'a member of the input',
    { type: 'object', properties: { csv: TEXT } },
    { csv: 'a,b' },
    '{"input": {"csv": ...}}',
  ],
  ['a member in other letters', NESTED, { Pages: 3 }, '{"input": {"pages": ...}}'],
  ['a member of a member', NESTED, { text: 'x' }, '{"input": {"document": {"text": ...}}}'],
  [
    'one of two shapes',
    { anyOf: [NESTED, { type: 'string' }] },
    { text: 'x' },
    '{"document": {"text": ...}}',
  ],
  ['the plural of "input"', NESTED, { inputs: { pages: 3 } }, 'Did you mean "input"?'],
  ['another case of "input"', NESTED, { Input: { pages: 3 } }, 'Did you mean "input"?'],
  ['"input" with an ending', NESTED, { input_data: { pages: 3 } }, 'Did you mean "input"?'],
  ['the only number', NESTED, { data: 3 }, 'fits one place: {"input": {"pages": ...}}'],
  [
    'an object of the members',
    NESTED,
    { data: { pages: 3, document: {} } },
    'fits one place: {"input": ...}',
  ],
  ['the text of an agent that takes a text', TEXT, { text: 'x' }, 'fits one place: {"input": ...}'],
  [
    'a value for an agent that takes any object',
    { type: 'object' },
    { city: 'x' },
    '{"input": {"city": ...}}',
  ],
  [
    'a member whose name a host adds, too',
    { properties: { action: TEXT } },
    { action: 'x' },
    '{"input": {"action": ...}}',
  ],
  ['another run', NESTED, { newRun: true }, 'Did you mean "new_run"?'],
])(
  'a direct tool refuses %s beside "input", says its place, and charges nothing [ADP-15]',
  async (_, schema, args, told) => {
    const { text, kind, charged } = await call(schema, { task: 't', ...args });
    expect(text).toMatch(/^\[agent-rental\] invalid_request: "\w+" is no argument of echo_aaaaaa\./);
    expect(text).toContain(told);
    expect(text).toContain('It takes agent_id, task, input, input_uri.');
    expect({ kind, charged }).toEqual({ kind: 'nothing', charged: 0 });
  },
);

it('a direct tool names no place if there are two [ADP-15]', async () => {
  const two = { type: 'object', properties: { from: TEXT, to: TEXT } };
  const { text } = await call(two, { task: 't', data: 'x' });
  expect(text).toContain('is no argument of echo_aaaaaa. It takes agent_id,');
});

it.each([
  { toolCallId: 'call_1', tool: 'echo_aaaaaa' },
  { sessionId: 's', action: 'sendMessage', chatInput: 'Hello.' },
  { input: null, text: null, new_run: true, agent_id: 'another-aaaaaa' },
])('a direct tool takes %j [ADP-15]', async (more) => {
  const schema = { type: 'object', properties: { action: TEXT } };
  expect(await call(schema, { task: 't', ...more })).toMatchObject({ kind: 'run', charged: 2_000_000 });
});
