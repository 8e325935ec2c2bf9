import { randomUUID } from 'node:crypto';
import { until } from '@agent-rental/test/support/timing/until';
import { call, type Answer } from '@agent-rental/test/support/http';
import { jsonOf } from '../../run-answers.js';
import type { WayToWork } from './agent.js';
import type { FaultMarket, Rental } from './market.js';

export interface Scenario {
  readonly name: string;
  readonly work: WayToWork;
  readonly isStream: boolean;
  /** Whether its agent was reached recently, so that the server signs the charge at the run's start. */
  readonly isHot: boolean;
  readonly usesCredit: boolean;
  /** Whether its caller has an API key with a daily limit. */
  readonly hasPolicy?: boolean;
  /** Its caller cancels or leaves when the agent has the task. */
  readonly ends?: 'cancel' | 'leave';
}

const plain = { work: 'answer', isStream: false, isHot: true, usesCredit: false } as const;

export const PLAIN_RUN: Scenario = { ...plain, name: 'charged as it starts' };
export const STREAMED_RUN: Scenario = { ...plain, name: 'streamed', work: 'stream', isStream: true };

export const SCENARIOS: readonly Scenario[] = [
  PLAIN_RUN,
  { ...plain, name: 'asked for with a limited API key', hasPolicy: true },
  { ...plain, name: 'charged when its agent is reached', isHot: false },
  STREAMED_RUN,
  { ...plain, name: 'charged, and its agent cannot be reached', work: 'refuse' },
  { ...plain, name: 'paid by a credit', usesCredit: true },
  { ...plain, name: 'cancelled', work: 'linger', ends: 'cancel' },
  { ...plain, name: 'left by its caller', work: 'linger', ends: 'leave' },
];

export interface RunRequest {
  readonly scenario: Scenario;
  readonly rental: Rental;
  readonly key: string;
  readonly body: { agent_id: string; task: string };
}

export function newRequest(scenario: Scenario, rental: Rental): RunRequest {
  const body = { agent_id: rental.listing.id, task: `${scenario.work} ${randomUUID()}` };
  return { scenario, rental, key: randomUUID(), body };
}

/** A caller's answer. Without `status`: the connection broke. */
export interface Got {
  readonly status?: number;
  readonly body?: Answer['body'];
  readonly hasOutput: boolean;
}

/** Brings the agent's listing into the scenario's first state. */
export async function prepare(market: FaultMarket, { scenario, rental }: RunRequest): Promise<void> {
  const { versionId } = rental.listing;
  if (scenario.hasPolicy === true && rental.apiKey === undefined) await market.giveKey(rental);
  await (scenario.isHot
    ? market.query(
        `insert into agent_contacts (version_id, reached_at) values ($1, now())
          on conflict (version_id) do update set reached_at = now()`,
        [versionId],
      )
    : market.query('delete from agent_contacts where version_id = $1', [versionId]));
}

/** Earns a credit for each wallet by a charged run whose agent cannot be reached. */
export async function earnCredits(market: FaultMarket, rentals: readonly Rental[]): Promise<void> {
  const scenario = { ...plain, name: 'earns a credit', work: 'refuse' } as const;
  for (const rental of rentals) {
    const request = newRequest(scenario, rental);
    await prepare(market, request);
    await send(market, request);
    const earned = 'select from credits where wallet = $1';
    // One after another: after a failure, the server no longer charges the next run of the agent at its start.
    await until(async () => (await market.query(earned, [rental.wallet])).length > 0, 20_000, 20);
  }
}

const tokenOf = ({ scenario, rental }: RunRequest): string =>
  (scenario.hasPolicy === true ? rental.apiKey : undefined) ?? rental.renter.token;

/** Sends the request. The caller cancels or leaves as the scenario demands. */
export async function send(market: FaultMarket, request: RunRequest): Promise<Got> {
  const { scenario, key, body } = request;
  const { served, agent } = market;
  const token = tokenOf(request);
  const leaves = new AbortController();
  const end = async () => {
    await agent.received(body.task);
    if (scenario.ends === 'leave') return leaves.abort();
    // Retries while the service fails: without a cancellation the agent works for a minute.
    for (let left = MOST_REPEATS; left > 0; left -= 1) {
      const asked = { token, body: { idempotency_key: key } };
      const answer = await call(served, 'POST', '/v1/runs/cancel', asked).catch(() => undefined);
      if (answer === undefined || answer.status < 500) return;
    }
  };
  if (scenario.ends !== undefined) void end();
  let text = '';
  let status: number | undefined;
  try {
    const path = scenario.isStream ? '/v1/execute/stream' : '/v1/execute';
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': key };
    const response = await fetch(served.dev.base_url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leaves.signal,
    });
    status = response.status;
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch {
    return { hasOutput: text.includes('event: output') };
  }
  const json = jsonOf(text) as Answer['body'] | undefined;
  if (scenario.isStream && status === 200)
    return { status, ...(json && { body: json }), hasOutput: text.includes('event: output') };
  return { status, ...(json && { body: json }), hasOutput: json?.['status'] === 'completed' };
}

/** Repeats the request with the same key, without a stream, until the answer is not 503. */
export async function repeat(market: FaultMarket, request: RunRequest): Promise<Got> {
  const { key, body } = request;
  const token = tokenOf(request);
  for (let left = MOST_REPEATS; ; left -= 1) {
    const asked = { token, body, headers: { 'idempotency-key': key } };
    const { status, body: told } = await call(market.served, 'POST', '/v1/execute', asked);
    if (status !== 503 || left === 0)
      return { status, body: told, hasOutput: told['status'] === 'completed' };
  }
}

const MOST_REPEATS = 20;
