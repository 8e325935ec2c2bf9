import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startHttpStandIn, type HttpStandIn } from '../../testing/index.js';
import { SseStream } from './sse-stream.js';

let server: HttpStandIn;
let serve: (response: ServerResponse) => void;
beforeEach(async () => {
  server = await startHttpStandIn((_, response) => serve(response));
});
afterEach(async () => {
  vi.useRealTimers();
  await server.close();
});

const DONE = {
  run_id: 'run-1',
  status: 'completed',
  cost_lamports: 5,
  duration_ms: 7,
  output: 'ab',
} as const;

it('is server-sent events: deltas in order, then done, then the end [STR-3]', async () => {
  serve = (response) => {
    const stream = new SseStream(response, () => ({ 'x-request-id': 'req_1' }));
    expect(stream.started).toBe(false);
    stream.begin('run-1');
    stream.begin('run-1');
    expect(stream.started).toBe(true);
    stream.delta('a\n\ndata: forged\r\n');
    stream.delta('ü');
    stream.done(DONE);
  };
  const response = await fetch(server.origin);
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-run-id': 'run-1',
    'x-request-id': 'req_1',
  });
  expect(await response.text()).toBe(
    'event: output\ndata: {"delta":"a\\n\\ndata: forged\\r\\n"}\n\n' +
      'event: output\ndata: {"delta":"ü"}\n\n' +
      `event: done\ndata: ${JSON.stringify(DONE)}\n\n`,
  );
});

it('sends its headers at once, so that the caller has the run id while it waits [STR-4]', async () => {
  // Without its heartbeat, which would send them, too, some time.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  let stream: SseStream | undefined;
  serve = (response) => {
    stream = new SseStream(response, () => ({}));
    stream.begin('run-1');
  };
  const response = await fetch(server.origin);
  expect(response.headers.get('x-run-id')).toBe('run-1');
  stream?.done(DONE);
  expect(await response.text()).toContain('event: done');
});

it.each([
  ['has been told an error', (response: ServerResponse) => void response.writeHead(503).end('no')],
  ['has gone away', (response: ServerResponse) => void response.destroy()],
  [
    'has gone away later',
    (response: ServerResponse, stream: SseStream) => {
      stream.begin('run-1');
      response.destroy();
    },
  ],
])('writes nothing to a caller that %s, and breaks nothing', async (_, answer) => {
  let startedBefore = false;
  const written = new Promise<boolean>((resolve, reject) => {
    serve = (response) => {
      const stream = new SseStream(response, () => ({}));
      response.once('close', () => {
        try {
          stream.begin('run-1');
          stream.delta('a');
          stream.done(DONE);
          resolve(stream.started);
        } catch (error) {
          reject(error);
        }
      });
      answer(response, stream);
      startedBefore = stream.started;
    };
  });
  await fetch(server.origin).catch(() => undefined);
  expect(await written).toBe(startedBefore);
});

it('does not begin once its request is to be answered with an error', async () => {
  serve = (response) => {
    const stream = new SseStream(response, () => ({}));
    stream.abandon();
    stream.begin('run-1');
    response.writeHead(503).end();
  };
  expect((await fetch(server.origin)).status).toBe(503);
});

describe('a slow reader', () => {
  /** A reader that has the headers and takes nothing of the body until it is told. */
  async function openReader(): Promise<IncomingMessage> {
    const asked = request(server.origin, { agent: false });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.pause();
    response.on('error', () => undefined);
    return response;
  }
  const PIECE = 'x'.repeat(64 * 1024);

  /** Serves one stream; gives it once its headers have left, and its response. */
  function serveStream(options: { stallMs?: number; maxBehindCharacters?: number }) {
    return new Promise<{ stream: SseStream; response: ServerResponse }>((resolve) => {
      serve = (response) => {
        const stream = new SseStream(response, () => ({}), options);
        stream.begin('run-1');
        resolve({ stream, response });
      };
    });
  }

  it('gets every delta in order once it reads, fewer and larger ones, and done last [STR-2, STR-3, STR-8]', async () => {
    const serving = serveStream({});
    const reader = await openReader();
    const { stream, response } = await serving;
    let sent = '';
    for (let index = 0; index < 200; index += 1) {
      const piece = `${index}:${PIECE}`;
      sent += piece;
      stream.delta(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    stream.done(DONE);
    // Text that the system has not taken is kept once.
    expect(response.writableLength).toBeLessThan(8 * PIECE.length);
    let text = '';
    for await (const chunk of reader) text += String(chunk);
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => event.split('\n'));
    const deltas = events.slice(0, -1).map(([name, data = '']) => {
      const { delta } = JSON.parse(data.replace('data: ', '')) as { delta: string };
      return { name, delta };
    });
    expect(new Set(deltas.map(({ name }) => name))).toEqual(new Set(['event: output']));
    expect(deltas.map(({ delta }) => delta).join('') === sent).toBe(true);
    expect(deltas.length).toBeLessThan(200);
    expect(events.at(-1)).toEqual(['event: done', `data: ${JSON.stringify(DONE)}`]);
  });

  it('that never reads is cut off before it costs more than a bound [STR-8]', async () => {
    const maxBehindCharacters = 1024 * 1024;
    const serving = serveStream({ maxBehindCharacters });
    const reader = await openReader();
    const { stream, response } = await serving;
    const closed = once(response, 'close');
    let most = 0;
    let pieces = 0;
    for (; !response.destroyed && pieces < 4_000; pieces += 1) {
      stream.delta(PIECE);
      most = Math.max(most, stream.behindCharacters + response.writableLength);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    expect(pieces).toBeLessThan(4_000);
    // The bound, one write that was under way, and the piece that went over it.
    expect(most).toBeLessThan(maxBehindCharacters + 3 * PIECE.length);
    reader.destroy();
  });

  it('that stops reading is cut off after a while, also when all is said [STR-8]', async () => {
    const serving = serveStream({ stallMs: 50, maxBehindCharacters: 1e9 });
    const reader = await openReader();
    const { stream, response } = await serving;
    const closed = once(response, 'close');
    for (let index = 0; index < 300; index += 1) stream.delta(PIECE);
    stream.done(DONE);
    await closed;
    const gone = new Promise((resolve) => reader.once('close', resolve));
    reader.resume();
    await gone;
    expect(reader.complete).toBe(false);
  });
});
