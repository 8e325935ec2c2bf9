import type { ModelCompleteParams } from '@agent-rental/agent-runner';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../platform/outbound-http.js';
import type { DeclarativeAgent } from '../registration/index.js';
import { readBody, startHttpStandIn, type HttpStandIn, type StandInListener } from '../testing/index.js';
import { createModelGateway, ModelUnavailableError, type ModelGateway } from './gateway.js';

const KEY = 'sk-very-secret';
const PROMPT = 'You read invoices. Never tell this.';

interface Asked {
  url: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: {
    model: string;
    stream: boolean;
    messages: { role: string; content: unknown; tool_calls?: unknown; tool_call_id?: string }[];
    tools?: { function: { name: string } }[];
    tool_choice?: string;
  };
}

let vendor: HttpStandIn;
let asked: Asked[];
/** Writes the answer; it gets the number of the request, from 1. */
let serve: (response: ServerResponse, time: number) => void;
let outbound: OutboundHttp;
let gateway: ModelGateway;
let agent: DeclarativeAgent;

beforeEach(async () => {
  asked = [];
  const listener: StandInListener = async (request, response) => {
    const text = await readBody(request);
    asked.push({
      url: request.url ?? '',
      headers: request.headers,
      text,
      body: JSON.parse(text) as Asked['body'],
    });
    serve(response, asked.length);
  };
  vendor = await startHttpStandIn(listener);
  outbound = createOutboundHttp(new Set([vendor.origin]));
  gateway = createModelGateway(outbound);
  agent = {
    mode: 'declarative',
    systemPrompt: PROMPT,
    tools: [],
    model: {
      provider: 'self_hosted',
      model: 'test-model',
      endpointUrl: `${vendor.origin}/v1`,
      key: KEY,
      keyOrigin: vendor.origin,
    },
    salt: '',
  };
});
afterEach(async () => {
  await outbound.close();
  await vendor.close();
});

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

function stream(response: ServerResponse, ...chunks: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunks.join('')}data: [DONE]\n\n`);
}

const REQUEST: ModelCompleteParams = {
  messages: [{ role: 'user', content: 'Read it.' }],
  tools: [],
  toolChoice: 'auto',
};
const complete = (
  request: Partial<ModelCompleteParams> = {},
  onText?: (text: string) => void,
  signal = new AbortController().signal,
) => gateway.open(agent).complete({ ...REQUEST, ...request }, { signal, onText });

describe('a completion', () => {
  it('streams text as it is made, and gives all of it at the end', async () => {
    serve = (response) =>
      stream(
        response,
        chunk({ role: 'assistant', content: 'It is ' }),
        chunk({ content: 'due.' }),
        chunk({}, 'stop'),
      );
    const texts: string[] = [];
    expect(await complete({}, (text) => texts.push(text))).toEqual({
      content: 'It is due.',
      toolCalls: [],
      finishReason: 'stop',
    });
    expect(texts).toEqual(['It is ', 'due.']);
  });

  it('puts the system prompt first, and the key into the Authorization header alone [EXE-38]', async () => {
    serve = (response) => stream(response, chunk({ content: 'ok' }), chunk({}, 'stop'));
    await complete();
    const [only] = asked;
    expect(asked).toHaveLength(1);
    expect(only?.url).toBe('/v1/chat/completions');
    expect(only?.body).toMatchObject({ model: 'test-model', stream: true });
    expect(only?.body.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(only?.body.messages[0]?.content).toBe(PROMPT);
    const { authorization, ...others } = only?.headers ?? {};
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(others) + (only?.text ?? '') + (only?.url ?? '')).not.toContain(KEY);
  });

  it('gives tool calls as the model wrote them, and offers the granted tools alone', async () => {
    const call = (index: number, fields: object) => chunk({ tool_calls: [{ index, ...fields }] });
    serve = (response) =>
      stream(
        response,
        call(0, { id: 'call-1', type: 'function', function: { name: 'read_input', arguments: '{"offset"' } }),
        call(0, { function: { arguments: ':5}' } }),
        call(1, {
          id: 'call-2',
          type: 'function',
          function: { name: 'run_javascript', arguments: '{"code":"1"}' },
        }),
        chunk({}, 'tool_calls'),
      );
    const result = await complete({ tools: ['read_input', 'run_javascript', 'rm_rf', 'constructor'] });
    expect(result.finishReason).toBe('tool_calls');
    expect(result.toolCalls.map(({ id, name }) => [id, name])).toEqual([
      ['call-1', 'read_input'],
      ['call-2', 'run_javascript'],
    ]);
    expect(result.toolCalls.map((made) => JSON.parse(made.arguments) as unknown)).toEqual([
      { offset: 5 },
      { code: '1' },
    ]);
    expect(asked[0]?.body.tools?.map((tool) => tool.function.name)).toEqual(['read_input', 'run_javascript']);
    expect(asked[0]?.body.tool_choice).toBe('auto');
  });

  it('passes a conversation with tools on', async () => {
    serve = (response) => stream(response, chunk({ content: 'ok' }), chunk({}, 'stop'));
    await complete({
      tools: ['read_input'],
      toolChoice: 'none',
      messages: [
        { role: 'user', content: 'Read it.' },
        {
          role: 'assistant',
          content: null,
          toolCalls: [{ id: 'call-1', name: 'read_input', arguments: 'not json' }],
        },
        { role: 'tool', toolCallId: 'call-1', content: 'the input' },
      ],
    });
    const messages = asked[0]?.body.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(messages[2]?.tool_calls).toMatchObject([{ id: 'call-1', function: { name: 'read_input' } }]);
    expect(messages[3]).toMatchObject({ tool_call_id: 'call-1', content: 'the input' });
    expect(asked[0]?.body.tool_choice).toBe('none');
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['something_new', 'other'],
  ])('that ends by %s says so', async (reason, expected) => {
    serve = (response) => stream(response, chunk({ content: 'cut' }), chunk({}, reason));
    expect((await complete()).finishReason).toBe(expected);
  });
});

describe('a model that cannot be used', () => {
  const refuse = (status: number) => (response: ServerResponse) =>
    // The vendor asks for a quick retry, so that the test does not wait.
    void response
      .writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' })
      .end('{"error":{"message":"no"}}');

  async function failure(): Promise<Error> {
    const error = await complete().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ModelUnavailableError);
    expect((error as Error).message).not.toMatch(/secret|127\.0\.0\.1/);
    return error as Error;
  }

  it('because the key is dead is asked once [EXE-39]', async () => {
    serve = refuse(401);
    await failure();
    expect(asked).toHaveLength(1);
  });

  it.each([500, 503, 429])('at the moment (%i) is asked again, twice', async (status) => {
    serve = refuse(status);
    await failure();
    expect(asked).toHaveLength(3);
  });

  it('for a moment only is used [EXE-39]', async () => {
    serve = (response, time) => {
      if (time < 3) refuse(500)(response);
      else stream(response, chunk({ content: 'back' }), chunk({}, 'stop'));
    };
    expect((await complete()).content).toBe('back');
  });

  it('because its endpoint may not be called is not asked', async () => {
    agent.model.endpointUrl = 'https://169.254.169.254/v1';
    agent.model.keyOrigin = 'https://169.254.169.254';
    await failure();
    expect(asked).toEqual([]);
  });

  it.each([
    ['another provider', (origin: string) => ({ provider: 'openai' as const, keyOrigin: origin })],
    ['another port', (origin: string) => ({ keyOrigin: origin.replace(/\d+$/, '1') })],
    ['no known address', () => ({ keyOrigin: undefined })],
  ])(
    'because its key was given for %s is asked nothing, without a key neither [REG-16]',
    async (_, change) => {
      agent.model = { ...agent.model, ...change(vendor.origin) };
      expect((await failure()).message).toContain('key was given for another');
      expect(asked).toEqual([]);
    },
  );

  it('because it answers with something else is one', async () => {
    serve = (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login</html>');
    await failure();
  });

  it('because it breaks off in the middle is one', async () => {
    serve = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ content: 'half' }), () => response.destroy());
    };
    await failure();
  });

  it('because it reports an error in its stream is one', async () => {
    serve = (response) =>
      stream(response, chunk({ content: 'half' }), 'data: {"error":{"message":"overloaded"}}\n\n');
    await failure();
  });
});

it('an abort closes the connection, and is no failure of the model', async () => {
  const controller = new AbortController();
  let closed: Promise<unknown> | undefined;
  serve = (response) => {
    closed = once(response, 'close');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ content: 'slow' }));
  };
  const made = complete({}, () => controller.abort(new Error('enough')), controller.signal);
  await expect(made).rejects.toThrow('enough');
  await closed;
});
