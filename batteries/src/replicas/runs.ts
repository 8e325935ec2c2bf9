import { randomUUID } from 'node:crypto';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Random } from '@agent-rental/test/support/random';
import type { MarketListing } from '@agent-rental/test/support/replicas/replica-market';
import { bearerOf, type AskedRun, type Caller, type ToldRun } from './caller.js';
import type { Asked, Client } from './client.js';

/** How long agents work, in milliseconds, and how long those that are cancelled would. */
const WORK_MS = [0, 0, 20, 50, 200] as const;
const CANCELLED_MS = 20_000;

/** What the requests share. */
export interface Context {
  readonly client: Client;
  readonly random: Random;
  /** All runs that were asked for. */
  readonly runs: AskedRun[];
}

/** Puts a run on the list of those that were asked for. */
export function newRun(
  caller: Caller,
  { random, runs }: Context,
  {
    hasKey = true,
    way = 'http',
    isCancelled = false,
    listing = random.pick(caller.listings),
    workMs = isCancelled ? CANCELLED_MS : random.pick(WORK_MS),
  }: {
    hasKey?: boolean;
    way?: AskedRun['way'];
    isCancelled?: boolean;
    listing?: MarketListing;
    workMs?: number;
  } = {},
): AskedRun {
  const name = `${listing.id}/${runs.length}`;
  const run: AskedRun = {
    body: { agent_id: listing.id, task: slowTask(workMs, name) },
    wallet: caller.wallet,
    listing,
    key: hasKey ? randomUUID() : undefined,
    name,
    isCancelled,
    way,
    told: [],
  };
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

/** Asks for a run until its end is told; without a key once alone where the connection breaks. */
export async function runToEnd(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client, random } = context;
  const hasKey = run.key !== undefined;
  for (let left = MOST_STREAMS; left > 0; left -= 1) {
    const got = await client.ask(executionOf(run, bearerOf(caller, random)), hasKey);
    if (got === undefined) return;
    const told = got.status === 200 ? endOf(got.text) : undefined;
    if (told === 'broken off') {
      // A stream tells a fault of the service inside of it; under its key it is asked for again.
      if (!hasKey) return;
      continue;
    }
    if (told === undefined) {
      client.broken.push(`a run was answered ${got.status}: ${got.text}`);
      return;
    }
    tell(caller, run, told, context);
    return;
  }
  client.broken.push(`run ${run.name} broke off ${MOST_STREAMS} times`);
}

const MOST_STREAMS = 20;

/** The end that an answer tells, which may be a stream's; `broken off` where the service says inside of a stream that it could not. */
function endOf(text: string): ToldRun | 'broken off' | undefined {
  const json = text.startsWith('{') ? text : /event: done\ndata: (.*)/.exec(text)?.[1];
  if (json === undefined) return undefined;
  const end = JSON.parse(json) as ToldRun & { error?: unknown };
  return end.error === undefined ? end : 'broken off';
}

/** Notes what a caller was told: the same each time, and what the agent answers. */
function tell(caller: Caller, run: AskedRun, told: ToldRun, { client }: Context): void {
  const [first] = run.told;
  run.told.push(told);
  if (first === undefined) {
    caller.done.push(run);
    if (told.status !== 'completed' || told.output !== slowAnswer(run.name))
      client.broken.push(`run ${run.name} was told ${told.status}: ${String(told.output)}`);
  } else if (
    first.run_id !== told.run_id ||
    first.output !== told.output ||
    first.cost_lamports !== told.cost_lamports
  ) {
    client.broken.push(`run ${run.name} was told twice, as ${first.run_id} and as ${told.run_id}`);
  }
}

/** Asks any replica for a run that has ended. */
export async function readAgain(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client, random } = context;
  const [told] = run.told;
  if (told === undefined) return;
  const got = await client.ask(
    { method: 'GET', path: `/v1/runs/${told.run_id}`, bearer: bearerOf(caller, random) },
    true,
  );
  if (got === undefined) return;
  const now = got.status === 200 ? (JSON.parse(got.text) as ToldRun) : undefined;
  if (now?.status !== told.status || now.output !== told.output || now.cost_lamports !== told.cost_lamports)
    client.broken.push(`run ${told.run_id} reads ${got.status} ${got.text}, and not as it was told`);
}

/** Begins a run at one replica and asks others for its end. */
export async function runPolled(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client, random } = context;
  const begun = await client.ask(executionOf(run, bearerOf(caller, random)), true);
  if (begun?.status === 200) return tell(caller, run, JSON.parse(begun.text) as ToldRun, context);
  if (begun?.status !== 202) {
    client.broken.push(`a run was begun with ${begun?.status}: ${begun?.text}`);
    return;
  }
  const { run_id: runId } = JSON.parse(begun.text) as { run_id: string };
  for (let left = MOST_POLLS; left > 0; left -= 1) {
    const path = `/v1/runs/${runId}`;
    const bearer = bearerOf(caller, random);
    const got = await client.ask({ method: 'GET', path, bearer, headers: { prefer: 'wait=5' } }, true);
    const now = JSON.parse(got?.text ?? '{}') as ToldRun & { error?: unknown };
    if (now.status === 'running') continue;
    // Its replica was killed: the run is made good, and asked for anew under its key.
    if (now.error !== undefined) return runToEnd(caller, { ...run, way: 'http' }, context);
    tell(caller, run, now, context);
    return;
  }
  client.broken.push(`run ${runId} does not end`);
}

const MOST_POLLS = 30;

/** Begins a run at one replica and cancels it at another. */
export async function runCancelled(caller: Caller, run: AskedRun, context: Context): Promise<void> {
  const { client, random } = context;
  const begun = await client.ask(executionOf(run, bearerOf(caller, random)), true);
  if (begun?.status !== 202) {
    client.broken.push(`a run was begun with ${begun?.status}: ${begun?.text}`);
    return;
  }
  const got = await client.ask(
    {
      method: 'POST',
      path: '/v1/runs/cancel',
      bearer: bearerOf(caller, random),
      body: { idempotency_key: run.key },
    },
    true,
  );
  if (got?.status !== 200) client.broken.push(`a cancel was answered ${got?.status}: ${got?.text}`);
}
