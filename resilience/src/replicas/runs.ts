import { randomUUID } from 'node:crypto';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Random } from '@agent-rental/test/support/random';
import type { MarketListing } from '@agent-rental/test/support/replicas/replica-market';
import { jsonOf } from '../run-answers.js';
import type { AskedRun, Caller, ToldRun } from './caller.js';
import type { Asked, Client } from './client.js';

/** The work of agents in milliseconds, and the work of cancelled runs without the cancellation. */
const WORK_MS = [0, 0, 20, 50, 200] as const;
const CANCELLED_MS = 20_000;

export interface Context {
  readonly client: Client;
  readonly random: Random;
  readonly runs: AskedRun[];
}

/** Makes a run, and adds it to the requested runs. */
export function newRun(
  caller: Caller,
  { random, runs }: Context,
  {
    hasKey = true,
    way = 'http',
    isCancelled = false,
    listing = random.pick(caller.listings),
    workMs = isCancelled ? CANCELLED_MS : random.pick(WORK_MS),
  }: Partial<Pick<AskedRun, 'way' | 'isCancelled'>> & {
    hasKey?: boolean;
    listing?: MarketListing;
    workMs?: number;
  } = {},
): AskedRun {
  const name = `${listing.id}/${runs.length}`;
  const body = { agent_id: listing.id, task: slowTask(workMs, name) };
  const run: AskedRun = { body, key: hasKey ? randomUUID() : undefined, name, isCancelled, way, told: [] };
  runs.push(run);
  return run;
}

const executionOf = ({ key, body, way }: AskedRun, bearer: string): Asked => ({
  method: 'POST',
  path: way === 'stream' ? '/v1/execute/stream' : '/v1/execute',
  bearer,
  body,
  headers: {
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(way === 'async' ? { prefer: 'respond-async, wait=0' } : {}),
  },
});

/** Requests a run until an answer has its result. Without a key it does not retry after a broken connection. */
export async function runToEnd(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client } = context;
  const hasKey = run.key !== undefined;
  for (let left = MOST_STREAMS; left > 0; left -= 1) {
    const got = await client.ask(executionOf(run, caller.bearer), hasKey);
    if (got === undefined) return;
    const told = got.status === 200 ? (jsonOf(got.text) as ToldRun & { error?: unknown }) : undefined;
    // A stream has a failure of the service in its last event. With a key the request is repeated.
    if (told?.error !== undefined && hasKey) continue;
    if (told === undefined) client.broken.push(`a run was answered ${got.status}: ${got.text}`);
    else if (told.error === undefined) tell(caller, run, told, context);
    return;
  }
  client.broken.push(`run ${run.name} broke off ${MOST_STREAMS} times`);
}

const MOST_STREAMS = 20;

/** Records a result, and checks that it is the agent's answer and equals the run's earlier results. */
function tell(caller: Caller, run: AskedRun, told: ToldRun, { client }: Context): void {
  const [first] = run.told;
  run.told.push(told);
  if (first === undefined) {
    caller.done.push(run);
    if (told.status !== 'completed' || told.output !== slowAnswer(run.name))
      client.broken.push(`run ${run.name} was answered ${told.status}: ${String(told.output)}`);
  } else if (first.run_id !== told.run_id || !isSame(first, told))
    client.broken.push(`run ${run.name} has two results, as ${first.run_id} and as ${told.run_id}`);
}

const isSame = (one: ToldRun, other: ToldRun) =>
  one.output === other.output && one.cost_lamports === other.cost_lamports;

export async function readAgain(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client } = context;
  const [told] = run.told;
  if (told === undefined) return;
  const [path, bearer] = [`/v1/runs/${told.run_id}`, caller.bearer];
  const got = await client.ask({ method: 'GET', path, bearer }, true);
  if (got === undefined) return;
  const now = got.status === 200 ? (JSON.parse(got.text) as ToldRun) : undefined;
  if (now?.status !== told.status || !isSame(now, told))
    client.broken.push(`run ${told.run_id} differs from its first answer: ${got.status} ${got.text}`);
}

/** Starts a run at one replica, and polls others for its result. */
export async function runPolled(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client } = context;
  const first = await client.ask(executionOf(run, caller.bearer), true);
  if (first?.status === 200) return tell(caller, run, JSON.parse(first.text) as ToldRun, context);
  if (first?.status !== 202) {
    client.broken.push(`a run started with ${first?.status}: ${first?.text}`);
    return;
  }
  const { run_id: runId } = JSON.parse(first.text) as { run_id: string };
  for (let left = MOST_POLLS; left > 0; left -= 1) {
    const path = `/v1/runs/${runId}`;
    const bearer = caller.bearer;
    const got = await client.ask({ method: 'GET', path, bearer, headers: { prefer: 'wait=5' } }, true);
    const now = JSON.parse(got?.text ?? '{}') as ToldRun & { error?: unknown };
    if (now.status === 'running') continue;
    // The run failed with its replica, and the request is repeated with its key.
    if (now.error !== undefined) return runToEnd(caller, { ...run, way: 'http' }, context);
    return tell(caller, run, now, context);
  }
  client.broken.push(`run ${runId} does not end`);
}

const MOST_POLLS = 30;

/** Starts a run at one replica, and cancels it at another. */
export async function runCancelled(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client } = context;
  const first = await client.ask(executionOf(run, caller.bearer), true);
  if (first?.status !== 202) {
    client.broken.push(`a run started with ${first?.status}: ${first?.text}`);
    return;
  }
  const [bearer, body] = [caller.bearer, { idempotency_key: run.key }];
  const got = await client.ask({ method: 'POST', path: '/v1/runs/cancel', bearer, body }, true);
  if (got?.status !== 200) client.broken.push(`a cancel was answered ${got?.status}: ${got?.text}`);
}
