import type { Run } from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { describe, expect, test, vi } from 'vitest';
import { ConnectionError, createClient, isApiError, type ClientOptions } from './index.js';
import { keypairSigner } from './solana/index.js';
import { offer } from './testing/sign-in-offer.js';

const baseUrl = 'http://marketplace.example';
const finished: Run = {
  run_id: 'run-1',
  agent_id: 'invoice-reader-k3x7qa',
  status: 'completed',
  output: 'done',
  cost_lamports: 0,
  duration_ms: 1,
};
const body = { agent_id: finished.agent_id, task: 'read' };

const json = (status: number, value: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
const failure = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(status, { error: { code, message: 'no', status, request_id: 'req_1' } }, headers);

/** A client whose requests have these answers in turn, and the requests. */
function scripted(answers: (Response | Error)[], options: Partial<ClientOptions> = { apiKey: 'k' }) {
  const requests: { init: RequestInit }[] = [];
  const doFetch: typeof fetch = async (_input, init) => {
    requests.push({ init: init ?? {} });
    const answer = answers.shift();
    if (answer instanceof Response) return answer;
    throw answer ?? new Error('no more answers');
  };
  return { client: createClient({ baseUrl, fetch: doFetch, ...options }), requests };
}

const header = (request: { init: RequestInit } | undefined, name: string) =>
  new Headers(request?.init.headers).get(name);

describe('an abandoned run', () => {
  const events = (...blocks: string[]) =>
    new Response(blocks.join('\n\n') + '\n\n', { headers: { 'content-type': 'text/event-stream' } });
  const DELTA = 'event: output\ndata: {"delta":"a"}';
  const DONE =
    'event: done\ndata: {"run_id":"r","status":"completed","cost_lamports":0,"duration_ms":1,"output":"a"}';
  /** Answers with `first`, then with a cancellation. Records the requested paths. */
  const asked = (first: (init: RequestInit) => Promise<Response>) => {
    const requests: { path: string; init: RequestInit }[] = [];
    const doFetch: typeof fetch = async (input, init = {}) => {
      requests.push({ path: new URL(input as string).pathname, init });
      return requests.length === 1 ? first(init) : json(200, { cancelled: true });
    };
    return { requests, client: createClient({ baseUrl, apiKey: 'k', fetch: doFetch }) };
  };
  const cancelled = async ({ requests }: ReturnType<typeof asked>) => {
    await vi.waitUntil(() => requests.length === 2, { timeout: 15_000 });
    expect(requests[1]?.path).toBe('/v1/runs/cancel');
    const key = header(requests[0], 'idempotency-key');
    expect(JSON.parse(requests[1]?.init.body as string)).toEqual({ idempotency_key: key });
  };

  test('is cancelled by its key when the signal aborts', async () => {
    const abort = new AbortController();
    const http = asked(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    );
    const run = http.client.execute(body, { signal: abort.signal });
    await vi.waitUntil(() => http.requests.length === 1, { timeout: 15_000 });
    abort.abort(new Error('not wanted'));
    await expect(run).rejects.toThrow('not wanted');
    await cancelled(http);
  });

  test('is cancelled when its stream is left, and not when it has ended', async () => {
    const left = asked(async () => events(DELTA, DONE));
    for await (const event of left.client.executeStream(body)) if (event.event === 'output') break;
    await cancelled(left);
    const read = asked(async () => events(DELTA, DONE));
    for await (const _ of read.client.executeStream(body)) continue;
    expect(read.requests).toHaveLength(1);
  });
});

describe('a run', () => {
  test('is tried again under the same idempotency key, so that it is paid once [SDK-1, ERR-31]', async () => {
    const http = scripted([
      failure(503, 'service_unavailable', { 'retry-after': '0' }),
      new TypeError('socket hang up'),
      json(200, finished),
    ]);
    expect(await http.client.execute(body)).toEqual(finished);
    const keys = http.requests.map((request) => header(request, 'idempotency-key'));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toBeTruthy();
  });

  test('has another key for every call', async () => {
    const http = scripted([json(200, finished), json(200, finished)]);
    await http.client.execute(body);
    await http.client.execute(body);
    const [first, second] = http.requests.map((request) => header(request, 'idempotency-key'));
    expect(first).not.toBe(second);
  });

  test('that is refused is not retried [SDK-1]', async () => {
    const http = scripted([failure(403, 'insufficient_balance')]);
    const error: unknown = await http.client.execute(body).catch((thrown: unknown) => thrown);
    expect(isApiError(error) && [error.code, error.status, error.requestId]).toEqual([
      'insufficient_balance',
      403,
      'req_1',
    ]);
    expect(http.requests).toHaveLength(1);
  });

  test.each([
    ['another refusal', failure(503, 'service_unavailable', { 'retry-after': '0' }), 'service_unavailable'],
    ['a lost connection', new TypeError('socket hang up'), undefined],
  ])('that fails in the end with %s keeps the first run and its error [EXE-87]', async (_, last, code) => {
    const started = {
      run_id: 'run-1',
      message: 'It was not reached. Your next run of it is free. Try again.',
    };
    const reason = 'It was not reached. Your next run of it is free.';
    const error = { code: 'service_unavailable', status: 503, ...started, reason };
    const http = scripted([json(503, { error }, { 'retry-after': '0' }), last], { apiKey: 'k', retries: 1 });
    const thrown: unknown = await http.client.execute(body).catch((each: unknown) => each);
    expect(thrown).toMatchObject({
      runId: 'run-1',
      message: expect.stringContaining(`The first try began run run-1: ${reason}`) as string,
      ...(code === undefined ? { name: 'ConnectionError' } : { code }),
    });
    expect(http.requests).toHaveLength(2);
  });

  test('is given up when aborted while it waits to try again [SDK-1]', async () => {
    const http = scripted([failure(503, 'service_unavailable', { 'retry-after': '60' })]);
    const controller = new AbortController();
    const run = http.client.execute(body, { signal: controller.signal });
    await vi.waitFor(() => expect(http.requests).toHaveLength(1), { timeout: 15_000 });
    controller.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
  });
});

/** A body that breaks off after its first bytes. */
const brokenOff = (text: string) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    pull: (controller) => controller.error(new TypeError('terminated')),
  });

describe('an answer', () => {
  test('that breaks off is asked for again, under the same key [SDK-1]', async () => {
    const http = scripted([new Response(brokenOff('{"run_id":'), { status: 200 }), json(200, finished)]);
    expect(await http.client.execute(body)).toEqual(finished);
    const keys = http.requests.map((request) => header(request, 'idempotency-key'));
    expect(keys[0]).toBe(keys[1]);
  });

  test('in another shape than the contract says is a connection error', async () => {
    const http = scripted([json(200, { hello: 'captive portal' })], { apiKey: 'k', retries: 0 });
    await expect(http.client.execute(body)).rejects.toBeInstanceOf(ConnectionError);
  });

  test('that asks to come back after more than a minute is handed on', async () => {
    const http = scripted([failure(429, 'rate_limit_exceeded', { 'retry-after': '3600' })]);
    const error: unknown = await http.client.execute(body).catch((thrown: unknown) => thrown);
    expect(isApiError(error) && error.retryAfterSeconds).toBe(3600);
  });

  test.each([429, 500, 503] as const)('of %i is retried if a retry is safe [SDK-1]', async (status) => {
    const code = { 429: 'rate_limit_exceeded', 500: 'internal_error', 503: 'service_unavailable' }[status];
    const again = { 'retry-after': '0' };
    const reading = scripted([failure(status, code, again), json(200, { credentials: [], total: 0 })]);
    await reading.client.listCredentials();
    expect(reading.requests).toHaveLength(2);
    const creating = scripted([failure(status, code, again)]);
    const creation = creating.client.createApiKey({ label: 'l', challenge: 'c', signature: 's' });
    await expect(creation).rejects.toMatchObject({ status });
    expect(creating.requests).toHaveLength(1);
  });
});

describe('a stream', () => {
  const stream = (text: BodyInit) =>
    new Response(text, { status: 200, headers: { 'content-type': 'text/event-stream' } });

  test('yields deltas, skips comments, and ends after done [SDK-3]', async () => {
    const done = { run_id: 'r', status: 'completed', cost_lamports: 0, duration_ms: 1, output: 'ab' };
    const http = scripted([
      stream(
        'event: output\ndata: {"delta":"a"}\n\n: still running\n\nevent: output\ndata: {"delta":"b"}\n\n' +
          `event: done\ndata: ${JSON.stringify(done)}\n\nevent: output\ndata: {"delta":"never"}\n\n`,
      ),
    ]);
    const events: unknown[] = [];
    for await (const event of http.client.executeStream(body)) events.push(event);
    expect(events).toEqual([
      { event: 'output', data: { delta: 'a' } },
      { event: 'output', data: { delta: 'b' } },
      { event: 'done', data: done },
    ]);
  });

  const read = async (http: ReturnType<typeof scripted>, signal?: AbortSignal) => {
    for await (const event of http.client.executeStream(body, { signal })) expect(event.event).toBe('output');
  };

  test.each([
    ['before done', 'event: output\ndata: {"delta":"a"}\n\n'],
    ['by the network', brokenOff('event: output\ndata: {"delta":"a"}\n\n')],
    ['short in the middle of an event', 'event: output\ndata: {"del\n\n'],
  ])('that is cut %s is a connection error, never a short answer [SDK-3]', async (_, text) => {
    await expect(read(scripted([stream(text)]))).rejects.toBeInstanceOf(ConnectionError);
  });

  test('that is cut by its reader ends with the reason of the abort', async () => {
    const controller = new AbortController();
    const http = scripted([
      stream(
        new ReadableStream({
          pull: (unread) => {
            controller.abort(new Error('enough'));
            unread.error(new DOMException('The fetch was aborted.', 'AbortError'));
          },
        }),
      ),
    ]);
    await expect(read(http, controller.signal)).rejects.toThrow('enough');
  });
});

describe('a wallet', () => {
  const wallet = Keypair.generate();
  const options = { signer: keypairSigner(wallet) };
  const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;
  const challenge = () =>
    json(200, offer({ domain: 'marketplace.example', wallet: wallet.publicKey.toBase58() }));
  const token = (value: string) => json(200, { token: value, expires_at: inAnHour() });
  const none = () => json(200, { credentials: [], total: 0 });

  test('logs in once for concurrent requests, with a signature over a sign-in message [SDK-1]', async () => {
    const http = scripted([challenge(), token('one'), none(), none()], options);
    await Promise.all([http.client.listCredentials(), http.client.listCredentials()]);
    expect(http.requests).toHaveLength(4);
    const sent = JSON.parse(http.requests[1]?.init.body as string) as Record<string, string>;
    expect(sent).toMatchObject({
      wallet: wallet.publicKey.toBase58(),
      challenge: expect.stringMatching(/^agent-rental:auth:/) as string,
    });
    const { sign_in_message: text = '', signature = '' } = sent;
    expect(text.split('\n')[0]).toBe('marketplace.example wants you to sign in with your Solana account:');
    const message = new TextEncoder().encode(text);
    expect(nacl.sign.detached.verify(message, bs58.decode(signature), wallet.publicKey.toBytes())).toBe(true);
    expect(header(http.requests[3], 'authorization')).toBe('Bearer one');
  });

  test('logs in again, silently, when its token has expired [SDK-1]', async () => {
    const http = scripted(
      [challenge(), token('one'), failure(401, 'jwt_expired'), challenge(), token('two'), none()],
      options,
    );
    await http.client.listCredentials();
    expect(header(http.requests.at(-1), 'authorization')).toBe('Bearer two');
  });
});

test('a wallet that refuses to sign is heard, and asked once', async () => {
  const signMessage = vi.fn(() => Promise.reject(new Error('The user said no.')));
  const signer = { address: Keypair.generate().publicKey.toBase58(), signMessage };
  const offered = json(200, offer({ domain: 'marketplace.example', wallet: signer.address }));
  await expect(scripted([offered], { signer }).client.listCredentials()).rejects.toThrow('The user said no.');
  expect(signMessage).toHaveBeenCalledTimes(1);
});

test('an API key in a browser is warned about', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  createClient({ baseUrl, apiKey: 'k' });
  expect(warn).not.toHaveBeenCalled();
  vi.stubGlobal('document', {});
  createClient({ baseUrl, apiKey: 'k' });
  vi.unstubAllGlobals();
  expect(warn).toHaveBeenCalledTimes(1);
  warn.mockRestore();
});

test('an answer of another server is a connection error', async () => {
  const html = [1, 2].map(() => new Response('<html>', { status: 502 }));
  await expect(scripted(html, { apiKey: 'k', retries: 1 }).client.listCredentials()).rejects.toBeInstanceOf(
    ConnectionError,
  );
});

test('a login that cannot reach the marketplace is a connection error, and is tried again', async () => {
  const signer = keypairSigner(Keypair.generate());
  const http = scripted([new TypeError('fetch failed'), new TypeError('fetch failed')], {
    signer,
    retries: 1,
  });
  await expect(http.client.listCredentials()).rejects.toBeInstanceOf(ConnectionError);
  expect(http.requests).toHaveLength(2);
});
