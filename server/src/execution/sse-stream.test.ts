import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startHttpStandIn, type HttpStandIn } from '../testing/index.js';
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
    expect(stream.begun).toBe(false);
    stream.begin('run-1');
    stream.begin('run-1');
    expect(stream.begun).toBe(true);
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

it('sends its headers at once, so that the caller has the run id while it waits [STR-7]', async () => {
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

it('writes nothing to a caller that has gone, and does not fail', async () => {
  let gone: Promise<void> | undefined;
  let stream: SseStream | undefined;
  serve = (response) => {
    gone = new Promise((resolve) => response.once('close', () => resolve()));
    stream = new SseStream(response, () => ({}));
    stream.begin('run-1');
  };
  const response = await fetch(server.origin);
  await response.body?.cancel();
  await gone;
  stream?.delta('late');
  stream?.done(DONE);
});
