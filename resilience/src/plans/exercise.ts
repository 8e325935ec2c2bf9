import type { Keypair } from '@solana/web3.js';
import { createClient } from '@agent-rental/sdk';
import { approveSpending, createApiKey, keypairSigner } from '@agent-rental/sdk/solana';
import { readWhatIsSeldomRead } from '@agent-rental/server/testing';
import { until } from '@agent-rental/test/support/timing/until';
import { call, login } from '@agent-rental/test/support/http';
import { openRawMcpSession } from '@agent-rental/test/support/raw-mcp-session';
import { draftOf, type FaultMarket, type Listing, type Rental } from '../faults/world/market.js';
import type { Step } from '../faults/proxies/step.js';
import { earnCredits, newRequest, prepare, SCENARIOS, send } from '../faults/world/scenarios.js';
import { settle } from '../faults/world/verify.js';
import { readPaths } from './reads.js';

export interface Exercised {
  /** One more than the scenarios. */
  readonly listings: readonly Listing[];
  /** A rental of the first listing. Its wallet has many rows in every table. */
  readonly busy: Rental;
  /** A wallet of the operator. */
  readonly operator: Keypair;
  readonly metricsToken: string;
}

/** Makes a server send all its statements for runs, reads and background work. @returns the wrong answers. */
export async function exercise(market: FaultMarket, exercised: Exercised): Promise<string[]> {
  const wrong: string[] = [];
  // The next end of each wallet and listing counts the results and removes the excess.
  await market.query(`update kept_results set bytes = 1 << 30`);
  const expect = async (what: string, answer: Promise<{ status: number; body: unknown }>, status = 200) => {
    const { status: got, body } = await answer;
    if (got !== status) wrong.push(`${what} was answered ${got}: ${JSON.stringify(body)}`);
    return body as Record<string, string>;
  };
  const webhookId = await workWebhook(market, exercised, expect);
  const known = { ...(await workRuns(market, exercised, expect)), webhookId };
  await workBusy(market, exercised, known, expect);
  await workBackground(market);
  const { busy, metricsToken: token } = exercised;
  await Promise.all(['/health', '/ready'].map((path) => expect(path, call(market.served, 'GET', path))));
  const headers = { authorization: `Bearer ${token}` };
  const metrics = await fetch(`${market.server.baseUrl}/metrics`, { headers });
  if (!metrics.ok) wrong.push(`/metrics was answered ${metrics.status}`);
  const mcp = await openRawMcpSession(`${market.server.baseUrl}/mcp`, busy.renter.token);
  if ((await mcp.tools()).length === 0) wrong.push('MCP lists no tools');
  await readWhatIsSeldomRead(market.postgres.url, market.rpc.url);
  return wrong;
}

/** The most listings for the comparison with the chain, because the seeded ones are not on the chain. */
const MOST_COMPARED = 3;

/** Holds the start's comparison with the chain after {@link MOST_COMPARED} listings. */
export function holdsComparison(): (step: Step) => 'hold' | undefined {
  let count = 0;
  return ({ name }) => {
    if (!/from "credentials" where "listing_address" = .* union all/.test(name)) return undefined;
    count += 1;
    return count > MOST_COMPARED ? 'hold' : undefined;
  };
}

type Expect = (
  what: string,
  answer: Promise<{ status: number; body: unknown }>,
  status?: number,
) => Promise<Record<string, string>>;

/** Makes runs of every scenario and with every idempotency key. @returns new ids of the busy wallet */
async function workRuns(market: FaultMarket, exercised: Exercised, expect: Expect) {
  const { listings, busy } = exercised;
  const { token } = busy.renter;
  const run = (task: string, headers: Record<string, string>) => {
    const body = { agent_id: busy.listing.id, task: `answer ${task}` };
    return expect('a run', call(market.served, 'POST', '/v1/execute', { token, headers, body }));
  };
  const { run_id: runId = '' } = await run('plainly', {});
  await run('by key', { 'idempotency-key': `key-of-${runId}` });
  await run('by key', { 'idempotency-key': `key-of-${runId}` });
  await run('by key with a window', { 'idempotency-key': `equal-${runId};window=30` });
  const rentals = await market.rentAll(SCENARIOS.map((_, index) => listings[index + 1] as Listing));
  const earning = rentals.filter((_, index) => SCENARIOS[index]?.usesCredit);
  await earnCredits(market, earning);
  const requests = SCENARIOS.map((scenario, index) => newRequest(scenario, rentals[index] as Rental));
  for (const request of requests) await prepare(market, request);
  await Promise.all(requests.map((request) => send(market, request)));
  const approvalId = await workApproved(market, exercised, expect);
  await settle(market);
  return { runId, approvalId };
}

/**
 * Makes a run that the owner of an API key approves. Call it before `settle`: that advances the chain past the server's cached
 * blockhashes.
 *
 * @returns the id of the approval
 */
async function workApproved(market: FaultMarket, { busy: { renter, listing } }: Exercised, expect: Expect) {
  const signer = keypairSigner(renter.wallet);
  const client = createClient({ baseUrl: market.server.baseUrl, signer });
  const { key } = await createApiKey(client, signer, 'asks', { policy: { ask_above_lamports: 0 } });
  const body = { agent_id: listing.id, task: 'answer once approved' };
  const byKey = () => call(market.served, 'POST', '/v1/execute', { token: key, body });
  await expect('a question', byKey(), 403);
  const [asked] = (await client.listApprovals()).approvals;
  if (asked) await approveSpending(client, signer, asked);
  await expect('an approved run', byKey());
  return asked?.id ?? '';
}

/** Makes webhooks of the busy wallet, at an address that is not there, and one of callbacks. @returns the id of the first */
async function workWebhook(market: FaultMarket, { busy }: Exercised, expect: Expect): Promise<string> {
  const { token } = busy.renter;
  const create = (body: object) =>
    expect('a webhook', call(market.served, 'POST', '/v1/webhooks', { token, body }), 201);
  const { id = '' } = await create({ url: 'https://webhook.invalid/' });
  await create({});
  const body = {
    agent_id: busy.listing.id,
    task: 'answer and tell',
    callback_url: 'https://webhook.invalid/run',
  };
  await expect('a run with a callback', call(market.served, 'POST', '/v1/execute', { token, body }));
  return id;
}

/** Makes the busy wallet's other requests over HTTP. */
async function workBusy(
  market: FaultMarket,
  { busy: { renter, wallet, listing }, operator }: Exercised,
  { runId, approvalId, webhookId }: Awaited<ReturnType<typeof workRuns>> & { webhookId: string },
  expect: Expect,
): Promise<void> {
  const { served } = market;
  const { token } = renter;
  const listingId = listing.id;
  const ask = (method: string, path: string, body?: object) =>
    call(served, method, path, { token, ...(body && { body }) });
  await expect('a cancelled key', ask('POST', '/v1/runs/cancel', { idempotency_key: 'a-later-key' }));
  await expect('a review', ask('POST', `/v1/listings/${listingId}/reviews`, { rating: 5 }));
  const pin = (version: number | null) => ask('PUT', `/v1/credentials/${listingId}/version`, { version });
  await expect('a pin', pin(1));
  await expect('no pin', pin(null));
  const client = createClient({ baseUrl: market.server.baseUrl, signer: keypairSigner(renter.wallet) });
  const { job_id: jobId } = await client.registerAgent(draftOf(market, 'a-draft'));
  const draft = await until(async () => (await client.getJob(jobId)).result?.listing_id);
  const headers = { 'content-type': 'text/plain' };
  const upload = call(served, 'POST', '/v1/files', { token, headers, raw: 'a file' });
  const { file_id: fileId = '' } = await expect('a file', upload, 201);
  const operatorToken = await login(served, operator);
  for (const path of readPaths({
    wallet,
    listingId,
    ownId: draft,
    jobId,
    runId,
    fileId,
    approvalId,
    webhookId,
  })) {
    const reader = path.startsWith('/v1/operator/') ? operatorToken : token;
    const { next_cursor: cursor } = await expect(path, call(served, 'GET', path, { token: reader }));
    if (cursor === undefined) continue;
    const next = new URL(path, market.server.baseUrl);
    next.searchParams.delete('offset');
    next.searchParams.set('cursor', cursor);
    const following = next.pathname + next.search;
    await expect(following, ask('GET', following));
  }
  await expect('settings of events', ask('PUT', '/v1/events/settings', { low_balance_runs: 9 }));
  const { deliveries } = await expect('deliveries', ask('GET', `/v1/webhooks/${webhookId}/deliveries`));
  const [told] = deliveries as unknown as { event_id: string }[];
  await expect('a redelivery', ask('POST', `/v1/webhooks/${webhookId}/deliveries/${told?.event_id}`));
  await expect('a changed webhook', ask('PATCH', `/v1/webhooks/${webhookId}`, { events: null }));
  await expect('a new secret', ask('POST', `/v1/webhooks/${webhookId}/secret`, {}));
  await expect('a test', ask('POST', `/v1/webhooks/${webhookId}/test`, {}));
  const { webhooks } = await expect('webhooks', ask('GET', '/v1/webhooks'));
  for (const { id } of webhooks as unknown as { id: string }[])
    await expect('a deleted webhook', ask('DELETE', `/v1/webhooks/${id}`));
  await expect('a deleted file', ask('DELETE', `/v1/files/${fileId}`));
  await expect('a deleted draft', ask('DELETE', `/v1/agents/${draft}`));
}

async function workBackground(market: FaultMarket): Promise<void> {
  // The comparison with the chain runs at each start.
  const scheduled = await market.query<{ identifier: string }>(
    `select identifier from graphile_worker._private_known_crontabs where identifier <> 'reconcile_with_chain'`,
  );
  const tasks = scheduled.map(({ identifier }) => identifier);
  for (const task of tasks) await market.query('select graphile_worker.add_job($1)', [task]);
  const waiting = `select from graphile_worker.jobs where task_identifier = any ($1)`;
  await until(async () => (await market.query(waiting, [tasks])).length === 0);
}
