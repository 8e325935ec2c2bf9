import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { createInternalRequests } from '../http/internal-requests.js';
import { memoryRateLimits } from '../rate-limits/memory.js';
import { createHttpServer } from '../http/server.js';
import type { RunRepository } from './history/repository.js';
import { breaks, errorOf, openPaidRuns, PRICE, type PaidRunWorld } from './pipeline/paid-run.test-support.js';
import { executionRoutes } from './routes.js';

const logger = pino({ level: 'silent' });
let app: FastifyInstance | undefined;
const { world } = await openPaidRuns();
afterEach(() => app?.close());

/** The routes over a world with one paid listing and its renter. */
async function served(setup: PaidRunWorld, changed = (runs: RunRepository): RunRepository => runs) {
  const made = await world(setup);
  app = await createHttpServer({
    logger,
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 1_000,
    internalRequests: createInternalRequests(),
    authenticate: async () => ({ wallet: made.wallet, rateKey: made.wallet }),
  });
  executionRoutes(app, {
    ...made.services(changed),
    agentRuns: {} as never,
    agentStats: {} as never,
    agentsStats: {} as never,
    renterSpending: {} as never,
    receipts: {} as never,
    spending: { allowanceOf: () => made.allowance },
  });
  return { ...made, app };
}

const ASK = { authorization: 'Bearer x', 'content-type': 'application/json' };

it('a stream that breaks off says the run’s id in `done`, also for a fault without one [STR-8]', async () => {
  const { app, listing } = await served({}, (runs) => ({
    ...runs,
    finish: () => Promise.reject(new Error('The database is gone.')),
  }));
  const { headers, body } = await app.inject({
    method: 'POST',
    url: '/v1/execute/stream',
    headers: ASK,
    payload: { agent_id: listing.id, task: 'answer' },
  });
  const runId = headers['x-run-id'];
  expect(runId).toMatch(/^[0-9a-f-]{36}$/);
  const done = JSON.parse(/event: done\ndata: (.*)/.exec(body)?.[1] ?? '') as unknown;
  expect(done).toMatchObject({ run_id: runId, status: 'failed', error: { code: 'internal_error' } });
});

it('a run that was credited says so where its state is asked for [MON-5]', async () => {
  const { app, execute, hasCredit, charges, reconcile } = await served({
    balanceLamports: 2n * PRICE,
    agent: breaks,
  });
  expect(await errorOf(execute())).toMatchObject({ code: 'internal_error' });
  await expect.poll(hasCredit).toBe(true);
  await reconcile();
  const [charge] = await charges();
  const answer = await app.inject({ method: 'GET', url: `/v1/runs/${charge?.run_id}`, headers: ASK });
  expect(answer.json()).toMatchObject({ status: 'failed', cost_lamports: 0, credited: true });
});

it('a run that could not be served and was not charged says that nothing is credited [MON-5]', async () => {
  const { app, execute, db, wallet, hasCredit } = await served({
    isHot: false,
    agent: async () => {
      throw new Error('A fault of ours.');
    },
  });
  const gone = new AbortController();
  await expect(
    execute({ caller: { gone: gone.signal, patienceMs: 0, mayComeBack: true } }),
  ).resolves.toMatchObject({ status: 'running' });
  const run = db.selectFrom('runs').select(['id', 'status']).where('wallet', '=', wallet);
  await expect.poll(async () => (await run.executeTakeFirstOrThrow()).status).toBe('undelivered');
  const { id } = await run.executeTakeFirstOrThrow();
  const answer = await app.inject({ method: 'GET', url: `/v1/runs/${id}`, headers: ASK });
  expect(answer.json()).toMatchObject({ status: 'failed', credited: false });
  expect(await hasCredit()).toBe(false);
});
