import type { ChatMessage, ModelCompleteParams } from '@agent-rental/agent-runner';
import {
  splitBody,
  startVendor,
  type Vendor,
  type VendorName,
  type VendorRefusal,
  type VendorTurn,
} from '@agent-rental/stand-in';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../platform/outbound-http.js';
import { modelOrigin, type DeclarativeAgent } from '../registration/index.js';
import { createModelGateway, ModelUnavailableError, type ModelSession } from './gateway.js';
import { ModelLimitError, type ModelLimits } from './spending-meter.js';

/** The vendors; the same tests run against the real one where its key is in the environment. */
const SETTINGS: Readonly<Record<VendorName, { origin: string; keyVariable: string; model: string }>> = {
  openai: {
    origin: 'https://api.openai.com',
    keyVariable: 'OPENAI_API_KEY',
    model: process.env['OPENAI_TEST_MODEL'] ?? 'gpt-4.1-mini',
  },
  anthropic: {
    origin: 'https://api.anthropic.com',
    keyVariable: 'ANTHROPIC_API_KEY',
    model: process.env['ANTHROPIC_TEST_MODEL'] ?? 'claude-haiku-4-5',
  },
};
const VENDORS = (Object.keys(SETTINGS) as VendorName[]).map((name) => ({ name, ...SETTINGS[name] }));
const PROMPT = 'You help to test a program. Do exactly what you are told.';
const NEVER = new AbortController().signal;

async function failureOf(made: Promise<unknown>): Promise<Error> {
  const error: unknown = await made.catch((caught: unknown) => caught);
  if (!(error instanceof Error)) throw new Error('It did not fail.');
  return error;
}
const user = (content: string): ChatMessage => ({ role: 'user', content });
const request = (fields: Partial<ModelCompleteParams>): ModelCompleteParams => ({
  messages: [user('Say the words: all good')],
  tools: [],
  toolChoice: 'auto',
  ...fields,
});
const agentOf = (provider: VendorName, model: string, key: string): DeclarativeAgent => ({
  mode: 'declarative',
  systemPrompt: PROMPT,
  tools: [],
  model: { provider, model, key, keyOrigin: modelOrigin({ provider }) },
  salt: '',
});

/** The tests of every vendor, real or imitated. */
function conversationTests(open: () => ModelSession, openWithBadKey: () => ModelSession): void {
  it('streams its text, and reports its stop reason and its tokens', async () => {
    const session = open();
    const texts: string[] = [];
    const made = await session.complete(request({}), { signal: NEVER, onText: (text) => texts.push(text) });
    expect(made.content?.toLowerCase()).toContain('all good');
    expect(made).toMatchObject({ toolCalls: [], finishReason: 'stop' });
    expect(texts.join('')).toBe(made.content);
    expect(session.usage.inputTokens).toBeGreaterThan(10);
    expect(session.usage.outputTokens).toBeGreaterThan(0);
  });

  it('calls a tool, takes its result, and answers without tools when it has to', async () => {
    const session = open();
    const tools = ['search_input', 'read_input'];
    const messages: ChatMessage[] = [
      user(
        'Call search_input with the query "ünïcode 👩" once. When you have its result, say it back to me.',
      ),
    ];
    const asked = await session.complete(request({ messages, tools }), { signal: NEVER });
    expect(asked.finishReason).toBe('tool_calls');
    const [call] = asked.toolCalls;
    if (!call) throw new Error('The model called no tool.');
    expect(call.name).toBe('search_input');
    expect(JSON.parse(call.arguments)).toMatchObject({ query: 'ünïcode 👩' });
    messages.push(
      { role: 'assistant', content: asked.content, toolCalls: asked.toolCalls },
      { role: 'tool', toolCallId: call.id, content: '[{"line":7,"text":"MARMALADE"}]' },
    );
    // As the runner asks on its last step: the tools are still named, and may not be called.
    const last = request({ messages, tools, toolChoice: 'none' });
    const answered = await session.complete(last, { signal: NEVER });
    expect(answered.content).toContain('MARMALADE');
    expect(answered.toolCalls).toEqual([]);
    expect(session.usage.calls).toBe(2);
  });

  it('refuses a wrong key, which no error repeats [EXE-39]', async () => {
    const error = await failureOf(openWithBadKey().complete(request({}), { signal: NEVER }));
    expect(error).toBeInstanceOf(ModelUnavailableError);
    expect(error.message).toContain('401');
    expect(JSON.stringify([error.message, error.stack, error.cause ?? ''])).not.toContain('WRONG');
  });
}

describe.each(VENDORS)('$name, the real one', ({ name, keyVariable, model }) => {
  const key = process.env[keyVariable];
  const outbound = createOutboundHttp(new Set());
  const open = (with_: string) => createModelGateway(outbound).open(agentOf(name, model, with_));
  describe.skipIf(!key)('with a key', () => {
    conversationTests(
      () => open(key ?? ''),
      () => open('sk-WRONG'),
    );
  });
});

describe.each(VENDORS)('$name, its stand-in', ({ name, origin, model }) => {
  const KEY = 'sk-the-key';
  let vendor: Vendor;
  let answers: (time: number) => VendorTurn | VendorRefusal;
  let outbound: OutboundHttp;
  let chunkBytes: number;
  let open: (key?: string, limits?: Partial<ModelLimits>) => ModelSession;

  beforeEach(async () => {
    chunkBytes = Number.POSITIVE_INFINITY;
    vendor = await startVendor(name, (_, time) => answers(time));
    outbound = createOutboundHttp(new Set([vendor.baseUrl]));
    // The vendor's own address leads to the stand-in; its answers come in chunks of the test's size.
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const url = (input as string).replace(origin, vendor.baseUrl);
      const response = await outbound.fetch(url, init);
      return Number.isFinite(chunkBytes) ? splitBody(response, chunkBytes) : response;
    };
    open = (key = 'sk-the-key', limits = {}) =>
      createModelGateway({ fetch }, limits).open(agentOf(name, model, key));
    answers = (time) =>
      time > 1 || vendor.requests[0]?.tools.length === 0
        ? { text: ['It is ', 'all good: ', 'MARMALADE'] }
        : {
            text: ['I look.'],
            toolCalls: [{ name: 'search_input', arguments: ['{"que', 'ry":"ünï', 'code 👩"', '}'] }],
          };
  });
  afterEach(async () => {
    await outbound.close();
    await vendor.close();
  });

  describe.each([Number.POSITIVE_INFINITY, 1, 2, 7, 64])('in chunks of %d bytes', (bytes) => {
    beforeEach(() => {
      chunkBytes = bytes;
    });
    conversationTests(
      () => open(),
      () => open('pk-WRONG'),
    );
  });

  it('is asked with the prompt, the tools and their schemas, and the key in its header alone [EXE-38]', async () => {
    await open().complete(request({ tools: ['read_input', 'run_javascript', 'not_a_tool'] }), {
      signal: NEVER,
    });
    const [asked] = vendor.requests;
    expect(asked).toMatchObject({ model, system: PROMPT, texts: ['Say the words: all good'] });
    expect(asked?.tools).toEqual(['read_input', 'run_javascript']);
    expect(asked?.body).not.toContain(KEY);
    expect([...(asked?.headers ?? [])].filter(([, value]) => value.includes(KEY))).toHaveLength(1);
  });

  it('calls several tools at once', async () => {
    answers = () => ({
      toolCalls: [
        { name: 'read_input', arguments: ['{"offset":', '5}'] },
        { name: 'list_inputs', arguments: [] },
        { name: 'read_input', arguments: ['not json'] },
      ],
    });
    const made = await open().complete(request({ tools: ['read_input', 'list_inputs'] }), { signal: NEVER });
    expect(made.toolCalls.map((call) => call.name)).toEqual(['read_input', 'list_inputs', 'read_input']);
    expect(new Set(made.toolCalls.map(({ id }) => id)).size).toBe(3);
    expect(JSON.parse(made.toolCalls[0]?.arguments ?? '')).toEqual({ offset: 5 });
    expect(made.content).toBeNull();
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ] as const)('says that it ended by %s', async (finish, expected) => {
    answers = () => ({ text: ['half'], finish });
    expect((await open().complete(request({}), { signal: NEVER })).finishReason).toBe(expected);
  });

  it.each(['error', 'silence'] as const)(
    'that breaks in the middle (%s) cannot be used, and no error repeats its text',
    async (breaks) => {
      answers = () => ({ text: ['SECRET half'], breaks });
      const made = open().complete(request({}), { signal: NEVER });
      await expect(made).rejects.toThrow(ModelUnavailableError);
      await expect(made).rejects.not.toThrow('SECRET');
    },
  );

  it.each([429, 500, 503, 529])(
    'that answers %i is asked again, when it says so [EXE-39]',
    async (status) => {
      answers = (time) => (time < 3 ? { status, headers: { 'retry-after': '0' } } : { text: ['back'] });
      const before = performance.now();
      expect((await open().complete(request({}), { signal: NEVER })).content).toBe('back');
      expect(vendor.requests).toHaveLength(3);
      // Without the header it would wait for 2 s, then for 4 s.
      expect(performance.now() - before).toBeLessThan(6_000);
    },
  );

  it('that always refuses is given up, and no error repeats the request from its answer', async () => {
    answers = () => ({ status: 503, headers: { 'retry-after': '0' } });
    const error = await failureOf(open().complete(request({}), { signal: NEVER }));
    expect(error).toBeInstanceOf(ModelUnavailableError);
    expect(error.message).toContain('503');
    expect(error.message).not.toContain(PROMPT);
    expect(vendor.requests).toHaveLength(3);
  });

  it('is asked no more once a run has used up its tokens', async () => {
    answers = () => ({ text: ['52 tokens'] });
    const session = open(KEY, { tokens: 60 });
    await session.complete(request({}), { signal: NEVER });
    await session.complete(request({}), { signal: NEVER });
    await expect(session.complete(request({}), { signal: NEVER })).rejects.toThrow(ModelLimitError);
    expect(vendor.requests).toHaveLength(2);
  });

  it('is cut off when it answers without end', async () => {
    answers = () => ({ text: Array.from({ length: 2_000 }, () => 'x'.repeat(100)) });
    const session = open(KEY, { responseBytes: 64 * 1024 });
    await expect(session.complete(request({}), { signal: NEVER })).rejects.toThrow(ModelLimitError);
    expect(vendor.requests).toHaveLength(1);
    const total = open(KEY, { totalBytes: 1_000 });
    await expect(total.complete(request({}), { signal: NEVER })).rejects.toThrow(ModelLimitError);
  });
});
