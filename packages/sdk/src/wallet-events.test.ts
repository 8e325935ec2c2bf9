import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from './index.js';

const event = (name: string, sequence: number) => ({
  id: `0198c0de-5a1e-4f00-8000-00000000000${sequence}`,
  name,
  subject: 'run:1',
  sequence,
  created_at: '2026-01-05T10:00:00.000Z',
  data: { run_id: '1' },
});
const block = (cursor: number, name = 'run.completed') =>
  `id: ${cursor}\nevent: ${name}\ndata: ${JSON.stringify(event(name, cursor))}\n\n`;

/** A stream of these chunks, which then ends, breaks off, or stays silent. */
function stream(
  chunks: string[],
  end: 'ends' | 'breaks' | 'silent' = 'ends',
  signal?: AbortSignal | null,
): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal?.addEventListener('abort', () => controller.error(signal.reason));
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      if (end === 'ends') controller.close();
    },
    pull(controller) {
      if (end === 'breaks') controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
const refusal = (status: number, code: string) =>
  Response.json({ error: { code, message: 'no', status, request_id: 'req_1' } }, { status });

/** A client whose requests have these answers in turn; gives the places that its streams began at. */
function scripted(...answers: ((init: RequestInit) => Response)[]) {
  const places: (string | null)[] = [];
  const paths: string[] = [];
  const doFetch: typeof fetch = async (input, init = {}) => {
    paths.push((input as string).replace('http://m.example', ''));
    places.push(new Headers(init.headers).get('last-event-id'));
    const answer = answers.shift();
    if (answer === undefined) throw new TypeError('no more answers');
    return answer(init);
  };
  return {
    client: createClient({ baseUrl: 'http://m.example', apiKey: 'k', fetch: doFetch, retries: 0 }),
    places,
    paths,
  };
}

afterEach(() => vi.useRealTimers());

test('a lost stream goes on after the last whole event, and a refusal ends it', async () => {
  const { client, places } = scripted(
    () => stream([block(1), block(2).slice(0, 30)], 'breaks'),
    () => refusal(503, 'service_unavailable'),
    () => stream([block(2), block(3, 'thing.of.a.later.version'), ': still here\nid: 3\n\n', block(4)]),
    () => refusal(401, 'invalid_api_key'),
  );
  const heard: string[] = [];
  const loop = async () => {
    for await (const { cursor } of client.events({ after: '0' })) heard.push(cursor);
  };
  await expect(loop()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
  expect(heard).toEqual(['1', '2', '4']);
  expect(places).toEqual(['0', '1', '1', '4']);
});

test('without a cursor it begins at the present, which is asked for once', async () => {
  const { client, places, paths } = scripted(
    () => Response.json({ events: [], cursor: '7' }),
    () => stream([]),
    () => refusal(403, 'credential_not_found'),
  );
  await expect(client.events({ types: ['run.completed', 'run.failed'] }).next()).rejects.toMatchObject({
    status: 403,
  });
  expect(places).toEqual([null, '7', '7']);
  expect(paths).toEqual([
    '/v1/events?order=newest&limit=1',
    '/v1/events?types=run.completed%2Crun.failed',
    '/v1/events?types=run.completed%2Crun.failed',
  ]);
});

test('a service that never answered is an error', async () => {
  const { client } = scripted();
  await expect(client.events().next()).rejects.toMatchObject({ name: 'ConnectionError' });
});

test('an abort ends the loop, while it waits for an event and while it waits to connect', async () => {
  const waiting = new AbortController();
  const open = scripted(({ signal }) => stream([block(1)], 'silent', signal));
  const heard: string[] = [];
  for await (const { cursor } of open.client.events({ after: '0', signal: waiting.signal })) {
    heard.push(cursor);
    setTimeout(() => waiting.abort());
  }
  expect(heard).toEqual(['1']);

  const connecting = new AbortController();
  const lost = scripted(() => {
    setTimeout(() => connecting.abort());
    return stream([]);
  });
  for await (const _ of lost.client.events({ after: '0', signal: connecting.signal })) continue;
  expect(lost.places[0]).toBe('0');
});

test('a silent connection is given up, and a slow reader is not taken for one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { client, places } = scripted(
    ({ signal }) => stream([block(1)], 'silent', signal),
    () => stream([block(2)]),
  );
  const events = client.events({ after: '0' });
  expect((await events.next()).value).toMatchObject({ cursor: '1' });
  await vi.advanceTimersByTimeAsync(120_000);
  const next = events.next();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(places).toEqual(['0']);
  await vi.advanceTimersByTimeAsync(2_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await next).value).toMatchObject({ cursor: '2' });
  expect(places).toEqual(['0', '1']);
});
