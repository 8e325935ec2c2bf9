import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '@agent-rental/cli';
import { operationExamples, operations } from '@agent-rental/contract';
import { createStandIn, listenNode } from '@agent-rental/stand-in';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

const [event] = operations.listEvents.response.parse(operationExamples.listEvents.response).events;
const webhook = operations.createWebhook.response.parse(operationExamples.createWebhook.response);
const WEBHOOK = `/v1/webhooks/${webhook.id}`;
const LATER = { ...event, id: '0198c0de-5a1e-4f00-8000-000000000002', name: 'run.failed', sequence: 2 };
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent rental events '));
  return () => rm(folder, { recursive: true });
});

/** Runs commands against a marketplace with these answers, by `METHOD path`. Records the other requests' bodies. */
async function openCli(answers: Record<string, unknown>) {
  const requests: [string, unknown][] = [];
  const marketplace = createStandIn();
  const { baseUrl, close } = await listenNode(async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname.startsWith('/v1/auth/')) return marketplace.fetch(request);
    const body = await request.text();
    requests.push([`${request.method} ${pathname}${search}`, body === '' ? undefined : JSON.parse(body)]);
    const answer = answers[`${request.method} ${pathname}`];
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  });
  onTestFinished(close);
  const stop = new AbortController();
  const cli = async (...args: string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli(args, {
      variables: { AGENT_RENTAL_URL: baseUrl },
      folder,
      signal: stop.signal,
      out: (line) => {
        out.push(line);
        if (args.includes('--follow') && out.length === 2) stop.abort();
      },
      write: (text) => void out.push(text),
      err: (line) => void err.push(line),
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  };
  await cli('wallet', 'create');
  return { cli, requests };
}

test('low-balance shows and sets below how many runs a balance is low', async () => {
  const { cli, requests } = await openCli({
    'GET /v1/events/settings': { low_balance_runs: 10 },
    'PUT /v1/events/settings': { low_balance_runs: 1 },
  });
  expect((await cli('low-balance')).out).toBe('You hear of a balance that pays for fewer than 10 runs.');
  expect((await cli('low-balance', '1')).out).toBe('You hear of an empty balance alone.');
  expect(await cli('low-balance', 'ten')).toMatchObject({ code: 2 });
  expect(requests).toEqual([
    ['GET /v1/events/settings', undefined],
    ['PUT /v1/events/settings', { low_balance_runs: 1 }],
  ]);
});

test('events shows the latest in the order of time, or those after a cursor', async () => {
  const { cli, requests } = await openCli({
    'GET /v1/events': { events: [LATER, event], cursor: '7' },
  });
  const first = '2026-01-05 10:00:00 run completed: run:';
  expect(await cli('events', '--limit', '2')).toMatchObject({
    code: 0,
    out: expect.stringMatching(new RegExp(`^${first}.*\n2026-01-05 10:00:00 run failed: run:`)) as string,
  });
  const { out } = await cli('events', '--after', '5', '--types', 'run.failed,run.completed', '--json');
  expect(JSON.parse(out)).toMatchObject({ cursor: '7' });
  expect(requests.map(([request]) => request)).toEqual([
    'GET /v1/events?limit=2&order=newest',
    'GET /v1/events?types=run.failed%2Crun.completed&limit=20&after=5',
  ]);
  expect(await cli('events', '--types', 'run.lost')).toMatchObject({
    code: 2,
    err: expect.stringContaining('run.completed') as string,
  });
});

test('events --follow shows new events until Ctrl-C, and that is no failure', async () => {
  const blocks = [event, LATER].map(
    (each, n) => `id: ${n + 1}\nevent: ${each?.name}\ndata: ${JSON.stringify(each)}\n\n`,
  );
  const stream = new Response(blocks.join(''), { headers: { 'content-type': 'text/event-stream' } });
  const { cli } = await openCli({ 'GET /v1/events': stream });
  const { code, out, err } = await cli('events', '--follow', '--after', '0', '--json');
  expect([code, err]).toEqual([0, '']);
  expect(out.split('\n').map((line) => JSON.parse(line) as object)).toMatchObject([
    { name: 'run.completed', cursor: '1' },
    { name: 'run.failed', cursor: '2' },
  ]);
});

test('webhooks add shows the secret once and the next command', async () => {
  const { secret: _, ...shown } = webhook;
  const { cli, requests } = await openCli({
    'POST /v1/webhooks': webhook,
    'GET /v1/webhooks': { webhooks: [shown, { id: webhook.id, created_at: webhook.created_at }] },
  });
  const { code, out } = await cli(
    'webhooks',
    'add',
    `${webhook.url}`,
    '--events',
    'run.completed,run.failed',
  );
  expect(code).toBe(0);
  expect(out).toContain(`Secret: ${webhook.secret}`);
  expect(out).toContain(`agent-rental webhooks test ${webhook.id}`);
  expect((await cli('webhooks', 'add', '--callbacks')).out).toContain('callback_url');
  expect(requests).toEqual([
    ['POST /v1/webhooks', { url: webhook.url, events: ['run.completed', 'run.failed'] }],
    ['POST /v1/webhooks', {}],
  ]);
  expect((await cli('webhooks', 'list')).out).toMatch(
    new RegExp(`^${webhook.id} [^]*\n${webhook.id} active\n.*callbacks of runs\n.*all events$`),
  );
  for (const wrong of [[], [`${webhook.url}`, '--callbacks']]) {
    expect((await cli('webhooks', 'add', ...wrong)).code).toBe(2);
  }
});

test('webhooks are tested, paused, resumed, rotated and removed', async () => {
  const attempt = operationExamples.testWebhook.response;
  const { cli, requests } = await openCli({
    [`POST ${WEBHOOK}/test`]: attempt,
    [`PATCH ${WEBHOOK}`]: { ...webhook, paused_at: '2026-01-05T10:00:00.000Z' },
    [`POST ${WEBHOOK}/secret`]: webhook,
    [`DELETE ${WEBHOOK}`]: webhook,
  });
  const tested = await cli('webhooks', 'test', webhook.id);
  expect(tested.out).toMatch(/^[-\d]+ [:\d]+ (answer \d+|no answer) after \d+ ms/);
  expect((await cli('webhooks', 'pause', webhook.id)).out).toContain('paused since 2026-01-05 10:00:00');
  await cli('webhooks', 'resume', webhook.id);
  expect((await cli('webhooks', 'rotate', webhook.id)).out).toContain(`Secret: ${webhook.secret}`);
  expect((await cli('webhooks', 'remove', webhook.id)).out).toContain('is removed');
  expect(requests).toEqual([
    [`POST ${WEBHOOK}/test`, undefined],
    [`PATCH ${WEBHOOK}`, { paused: true }],
    [`PATCH ${WEBHOOK}`, { paused: false }],
    [`POST ${WEBHOOK}/secret`, undefined],
    [`DELETE ${WEBHOOK}`, undefined],
  ]);
});

test('webhooks test fails where the address did not take the event', async () => {
  const { cli } = await openCli({
    [`POST ${WEBHOOK}/test`]: {
      at: '2026-01-05T10:00:00.000Z',
      duration_ms: 12,
      http_status: 500,
      reason: 'It answered 500.',
    },
  });
  expect(await cli('webhooks', 'test', webhook.id)).toMatchObject({
    code: 1,
    out: '2026-01-05 10:00:00 answer 500 after 12 ms: It answered 500.',
    err: expect.stringContaining('did not take') as string,
  });
});

test('webhooks shows deliveries with their attempts, and sends one again', async () => {
  const delivery = operations.redeliver.response.parse(operationExamples.redeliver.response);
  const page = operations.listDeliveries.response.parse(operationExamples.listDeliveries.response);
  const { cli, requests } = await openCli({
    [`GET ${WEBHOOK}/deliveries`]: page,
    [`POST ${WEBHOOK}/deliveries/${delivery.event_id}`]: delivery,
  });
  const { out } = await cli('webhooks', 'deliveries', webhook.id, '--limit', '5');
  expect(out).toContain(page.deliveries[0]?.event_id);
  expect(out).toMatch(/after \d+ ms/);
  expect((await cli('webhooks', 'redeliver', webhook.id, delivery.event_id)).out).toContain(
    delivery.event_id,
  );
  expect(requests.map(([request]) => request)).toEqual([
    `GET ${WEBHOOK}/deliveries?limit=5`,
    `POST ${WEBHOOK}/deliveries/${delivery.event_id}`,
  ]);
});
