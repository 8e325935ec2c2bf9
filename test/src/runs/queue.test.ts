import { createClient } from '@agent-rental/sdk';
import { keypairSigner, publish } from '@agent-rental/sdk/solana';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { jobEnd, PRICE, rentAgent } from '../support/agents/agents.js';
import { call, errorOf, type Answer } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { newParticipant, type Participant } from '../support/participant.js';

/** A task that the agent is still busy with, until the test ends it. */
interface Held {
  task: string;
  end(): void;
}

let standIn: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
let renter: Participant;
let other: Participant;
let agentId: string;
const held: Held[] = [];

beforeAll(async () => {
  standIn = await startModelStandIn();
  standIn.answerOthers(async (request) => {
    const { task } = (await request.json()) as { task?: string };
    // The service asks whether the agent is there.
    if (task === undefined) return new Response(null);
    await new Promise<void>((resolve) => held.push({ task, end: resolve }));
    return Response.json(`done: ${task}`);
  });
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, {
    ...withoutExamples(standIn.baseUrl),
    QUEUE_MAX_LENGTH: '4',
    QUEUE_MAX_WAIT_SECONDS: '20',
  });
  const creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  other = await newParticipant(marketplace);
  const signer = keypairSigner(creator.wallet);
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
  const url = standIn.baseUrl.replace('/v1', '/agent');
  const registered = await client.registerAgent({
    name: 'busy-agent',
    category: 'research',
    description: 'Is busy until it is told.',
    model: { provider: 'self_hosted', endpoint_url: url },
    entrypoint_url: url,
    input_schema: {},
    output_schema: { type: 'string' },
    listing: {
      rental_model: 'per_query',
      price_lamports: PRICE,
      min_deposit_lamports: PRICE,
      sample_output: ['A sample.'],
    },
  });
  const job = await jobEnd(client, registered.job_id);
  agentId = job.result?.listing_id ?? '';
  await publish(client, signer, agentId);
  await rentAgent(renter, agentId, 60);
  await rentAgent(other, agentId, 10);
}, 120_000);

afterAll(async () => {
  for (const { end } of held) end();
  await marketplace.stop();
  await removeStateDir(stateDir);
  await standIn.close();
});

const run = (party: Participant, task: string, headers: Record<string, string> = {}, fields: object = {}) =>
  call(marketplace, 'POST', '/v1/execute', {
    token: party.token,
    body: { agent_id: agentId, task, ...fields },
    headers,
  });
const runsWaiting = async () => {
  const text = await (await fetch(`${marketplace.dev.base_url}/metrics`)).text();
  return Number(/^agent_rental_runs_waiting (\d+)$/m.exec(text)?.[1]);
};
const waiting = (count: number) =>
  vi.waitUntil(async () => (await runsWaiting()) === count, { timeout: 10_000 });
const working = (count: number) => vi.waitUntil(() => held.length === count, { timeout: 30_000 });
/** Ends one task that the agent works on. */
const endOne = () => (held.shift() as Held).end();
const balance = async (party: Participant) => (await party.client.verifyCredential(agentId)).balance_lamports;

test(
  'the 21st run waits its turn; strangers do not; full is 429 and costs nothing; a drain empties the queue [EXE-28]',
  { timeout: 180_000 },
  async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => newParticipant(marketplace)));
    for (const each of others) await rentAgent(each, agentId, 4);
    // Four slots are for wallets that have none, so no wallet could have all alone.
    const runs = [renter, ...others].flatMap((party) =>
      Array.from({ length: 4 }, (_, index) => run(party, `task ${index}`)),
    );
    await working(20);

    // A stranger hears at once that it has not rented, and takes no place.
    const stranger = await newParticipant(marketplace);
    const refused = await run(stranger, 'mine');
    expect([refused.status, errorOf(refused.body)['code']]).toEqual([403, 'credential_not_found']);
    expect(await runsWaiting()).toBe(0);

    // One wallet may have half of the queue, and all together the whole.
    const standard = run(renter, 'standard');
    await waiting(1);
    const first = run(renter, 'first', {}, { priority: 'priority' });
    await waiting(2);
    // The agent counts as reached after two seconds, and the twenty runs are charged then.
    const before = 56 * PRICE;
    await expect.poll(() => balance(renter)).toBe(before);
    const tooMany = await run(renter, 'too many');
    expectQueueFull(tooMany);
    const cancelled = await run(other, 'cancelled', {
      prefer: 'respond-async, wait=0',
      'idempotency-key': 'line-1',
    });
    expect(cancelled.status).toBe(202);
    const leaving = new AbortController();
    const left = fetch(`${marketplace.dev.base_url}/v1/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ agent_id: agentId, task: 'left' }),
      signal: leaving.signal,
    });
    await waiting(4);
    const third = await newParticipant(marketplace);
    await rentAgent(third, agentId, 1);
    const full = await run(third, 'full');
    expectQueueFull(full);
    expect(await balance(third)).toBe(PRICE);
    expect(await balance(renter)).toBe(before);

    // A run that disconnects or is cancelled leaves the queue.
    leaving.abort();
    await expect(left).rejects.toThrow();
    await waiting(3);
    const cancel = await call(
      marketplace,
      'POST',
      `/v1/runs/${String(cancelled.body['run_id'])}/cancel`,
      other,
    );
    expect(cancel.body).toMatchObject({ cancelled: true, run: { status: 'failed', cost_lamports: 0 } });
    await waiting(2);
    expect(await balance(other)).toBe(10 * PRICE);

    // In turn: `priority` first.
    endOne();
    await working(20);
    expect(held.at(-1)?.task).toBe('first');
    endOne();
    await working(20);
    expect(held.at(-1)?.task).toBe('standard');

    // A stop refuses waiting runs, and lets working runs end.
    const late = run(other, 'late');
    await waiting(1);
    const stopped = marketplace.stop();
    const sent = await late;
    expect([sent.status, errorOf(sent.body)['code']]).toEqual([503, 'service_unavailable']);
    expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0);
    while (held.length > 0) endOne();
    for (const answer of await Promise.all([...runs, standard, first])) {
      expect(answer.body).toMatchObject({ status: 'completed', cost_lamports: PRICE });
    }
    expect(await stopped).toBe(0);
  },
);

function expectQueueFull({ status, headers, body }: Answer): void {
  expect([status, errorOf(body)['code']]).toEqual([429, 'rate_limit_exceeded']);
  expect(errorOf(body)['message']).toContain('queue');
  expect(Number(headers.get('retry-after'))).toBe(10);
}
