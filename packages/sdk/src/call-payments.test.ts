import type { Run } from '@agent-rental/contract';
import { describe, expect, test, vi } from 'vitest';
import { createClient, type ClientOptions } from './index.js';
import { NETWORK } from './solana/testing/payment-challenge.js';

const run: Run = {
  run_id: 'run-1',
  agent_id: 'invoice-reader-k3x7qa',
  status: 'completed',
  output: 'done',
  cost_lamports: 250_000,
  duration_ms: 1,
};
const body = { agent_id: run.agent_id, task: 'read' };

interface Request {
  path: string;
  headers: Headers;
}

const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code, message: 'no', status, request_id: 'req_1' } }, { status, headers });
const asked = () => refusal(402, 'insufficient_balance', { 'www-authenticate': 'Payment id="x"' });
const answered = (answer: unknown = run) => Response.json(answer, { headers: { 'x-run-id': run.run_id } });
const isPaid = ({ headers }: Request) => headers.get('authorization')?.startsWith('Payment ') === true;

/** A client without a login, whose payer names its payments by their number. */
function newClient(respond: (request: Request) => Response | Error, options: Partial<ClientOptions> = {}) {
  const requests: Request[] = [];
  const pay = vi.fn(async () => `Payment ${pay.mock.calls.length}`);
  const client = createClient({
    baseUrl: 'http://market.example',
    payPerCall: { address: 'the-wallet', pay },
    fetch: async (input, init) => {
      const request = { path: new URL(input as string).pathname, headers: new Headers(init?.headers) };
      if (request.path === '/v1/network') return Response.json(NETWORK);
      requests.push(request);
      const answer = respond(request);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    ...options,
  });
  return { client, requests, pay };
}

describe('a run without a rental', () => {
  test('is paid for and sent again as it was, by a client without a login', async () => {
    const { client, requests, pay } = newClient((request) => (isPaid(request) ? answered() : asked()));
    expect(await client.execute(body)).toEqual(run);
    expect(pay).toHaveBeenCalledExactlyOnceWith({
      challenge: 'Payment id="x"',
      listingId: run.agent_id,
      network: NETWORK,
    });
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([null, 'Payment 1']);
    for (const { headers } of requests) expect(headers.get('payment-wallet')).toBe('the-wallet');
    const [first, second] = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(second).toBe(first);
  });

  test('of a client with a key is refused first, and then says that it would pay', async () => {
    const { client, requests } = newClient(
      (request) => {
        if (isPaid(request)) return answered();
        return request.headers.has('accept-payment') ? asked() : refusal(403, 'credential_not_found');
      },
      { apiKey: 'k' },
    );
    await client.execute(body);
    const told = requests.map(({ headers }) => [headers.get('authorization'), headers.get('accept-payment')]);
    expect(told).toEqual([
      ['Bearer k', null],
      ['Bearer k', 'solana/charge'],
      ['Payment 1', null],
    ]);
  });

  test('of a client with a key is not asked about twice, and a refusal of another kind is not paid', async () => {
    const lost = newClient(
      ({ headers }) =>
        headers.has('accept-payment') ? new TypeError('reset') : refusal(403, 'insufficient_balance'),
      { apiKey: 'k' },
    );
    await expect(lost.client.execute(body)).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(lost.requests).toHaveLength(2);
    const paused = newClient(() => refusal(403, 'listing_paused'), { apiKey: 'k' });
    await expect(paused.client.execute(body)).rejects.toMatchObject({ code: 'listing_paused' });
    expect(paused.requests).toHaveLength(1);
    expect([lost.pay, paused.pay].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  test('whose answer is lost is asked for by the same payment', async () => {
    let losses = 2;
    const { client, requests, pay } = newClient((request) => {
      if (!isPaid(request)) return asked();
      losses -= 1;
      if (losses >= 0) return losses === 0 ? refusal(503, 'service_unavailable') : new TypeError('reset');
      return answered();
    });
    expect(await client.execute(body)).toEqual(run);
    expect(pay).toHaveBeenCalledOnce();
    expect(requests.slice(1).map(({ headers }) => headers.get('authorization'))).toEqual([
      'Payment 1',
      'Payment 1',
      'Payment 1',
    ]);
  });

  test('is paid for once under one key, also at once and after a lost answer', async () => {
    let isLost = true;
    const { client, requests, pay } = newClient(
      (request) => {
        if (!isPaid(request)) return asked();
        return isLost ? new TypeError('reset') : answered();
      },
      { retries: 0 },
    );
    const given = { idempotencyKey: 'a-key' };
    const tries = await Promise.allSettled([client.execute(body, given), client.execute(body, given)]);
    expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isLost = false;
    const { length: before } = requests;
    expect(await client.execute(body, given)).toEqual(run);
    expect(await client.execute(body, given)).toEqual(run);
    expect(pay).toHaveBeenCalledOnce();
    // A request without the payment could begin another run, on the balance that is left of it.
    expect(requests.slice(before).map(isPaid)).toEqual([true, true]);
    await client.execute(body);
    expect(pay).toHaveBeenCalledTimes(2);
  });

  test('keeps its payment under its key beside any number of calls without one', async () => {
    const { client, pay } = newClient((request) => (isPaid(request) ? answered() : asked()));
    const given = { idempotencyKey: 'a-key' };
    await client.execute(body, given);
    for (let call = 0; call < 1_000; call += 1) await client.execute(body);
    await client.execute(body, given);
    expect(pay).toHaveBeenCalledTimes(1_001);
  });

  test('is paid for anew once its key is free again, some time after the end of the run', async () => {
    let end =
      'event: done\ndata: {"run_id":"r","status":"completed","cost_lamports":0,"duration_ms":1,"output":"a"}\n\n';
    const { client, pay } = newClient((request) => {
      if (!isPaid(request)) return asked();
      if (request.path === '/v1/execute') return answered();
      return new Response(end, { headers: { 'content-type': 'text/event-stream' } });
    });
    const given = (key: string) => ({ idempotencyKey: key, keyWindowSeconds: 60 });
    const read = async (key: string) => {
      for await (const _ of client.executeStream(body, given(key))) continue;
    };
    vi.useFakeTimers({ toFake: ['Date'] });
    const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
    try {
      for (const call of [async () => client.execute(body, given('one')), async () => read('two')]) {
        pay.mockClear();
        await call();
        later(59);
        await call();
        expect(pay).toHaveBeenCalledOnce();
        later(61);
        await call();
        expect(pay).toHaveBeenCalledTimes(2);
      }
      pay.mockClear();
      end = 'event: output\ndata: {"delta":"a"}\n\n';
      await expect(read('three')).rejects.toMatchObject({ name: 'ConnectionError' });
      later(3_600);
      await expect(read('three')).rejects.toMatchObject({ name: 'ConnectionError' });
      expect(pay).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  test('that the service refuses after the payment is an error, and the next call pays anew', async () => {
    let isRefused = true;
    const { client, requests, pay } = newClient((request) =>
      isPaid(request) && !isRefused ? answered() : asked(),
    );
    const given = { idempotencyKey: 'a-key' };
    await expect(client.execute(body, given)).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_balance',
      paymentChallenge: 'Payment id="x"',
    });
    expect(requests).toHaveLength(2);
    isRefused = false;
    await client.execute(body, given);
    expect(pay).toHaveBeenCalledTimes(2);
  });

  test('that the payer refuses is not sent again', async () => {
    const { client, requests, pay } = newClient(asked);
    pay.mockRejectedValue(new Error('beyond the limit'));
    await expect(client.execute(body, { idempotencyKey: 'a-key' })).rejects.toThrow('beyond the limit');
    expect(requests).toHaveLength(1);
    await expect(client.execute(body, { idempotencyKey: 'a-key' })).rejects.toThrow('beyond the limit');
    expect(pay).toHaveBeenCalledTimes(2);
  });

  test('is read by its payment, and another run is not', async () => {
    const { client, requests } = newClient((request) => {
      if (request.path !== '/v1/execute') return answered();
      return isPaid(request) ? answered() : asked();
    });
    await client.execute(body);
    await client.waitForRun(run.run_id);
    await client.getRun('run-2', { waitSeconds: 1 });
    const read = requests
      .slice(2)
      .map(({ headers }) => [headers.get('authorization'), headers.get('prefer')]);
    expect(read).toEqual([
      ['Payment 1', 'wait=60'],
      [null, 'wait=1'],
    ]);
  });

  test('ends for an aborting caller while its wallet is asked, and stops no run of others', async () => {
    const { client, requests, pay } = newClient(asked);
    pay.mockReturnValue(new Promise(() => {}));
    const abort = new AbortController();
    const running = client.execute(body, { signal: abort.signal });
    await vi.waitUntil(() => pay.mock.calls.length === 1);
    abort.abort(new Error('not wanted'));
    await expect(running).rejects.toThrow('not wanted');
    expect(requests.map(({ path }) => path)).toEqual(['/v1/execute']);
  });
});
