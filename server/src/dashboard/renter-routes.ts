import {
  EVENTS_PAGE_PATH,
  HOME_PAGE_PATH,
  listingId,
  RUN_PAGE_PATH,
  RUNS_PAGE_PATH,
  runSummary,
} from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { ApiError } from '../errors/api-error.js';
import type { PageChain } from './pages/page.js';
import { eventsPage } from './pages/notices/events-page.js';
import { homePage } from './pages/renter/home-page.js';
import { runPage } from './pages/renter/run-page.js';
import { runsPage, type RunsFilter } from './pages/renter/runs-page.js';
import { sendScriptedPage } from './send-page.js';

/** An empty field of a form asks for nothing. */
const filled = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
const runsQuery = z.object({ agent_id: filled(listingId), status: filled(runSummary.shape.status) });
const runId = z.uuid();

/** Adds the pages of a wallet that rents: its rentals and its runs. */
export function addRenterPages(
  app: FastifyInstance,
  { origin, chain, programId }: { origin: () => string; chain: PageChain; programId: string },
): void {
  const config = { auth: 'none' } as const;
  app.get(HOME_PAGE_PATH, { config }, async (_, reply) =>
    sendScriptedPage(reply, (nonce) => homePage({ baseUrl: origin(), chain, nonce })),
  );
  app.get(EVENTS_PAGE_PATH, { config }, async (_, reply) =>
    sendScriptedPage(reply, (nonce) => eventsPage({ baseUrl: origin(), chain, nonce })),
  );
  app.get<{ Querystring: Record<string, unknown> }>(RUNS_PAGE_PATH, { config }, async ({ query }, reply) => {
    const filter = runsFilter(query);
    return sendScriptedPage(reply, (nonce) => runsPage({ baseUrl: origin(), chain, nonce, filter }));
  });
  app.get<{ Params: { run_id: string } }>(RUN_PAGE_PATH, { config }, async ({ params }, reply) => {
    const parsed = runId.safeParse(params.run_id);
    if (!parsed.success) throw new ApiError('not_found', 'There is no run of this id.');
    return sendScriptedPage(reply, (nonce) =>
      runPage({ baseUrl: origin(), chain, programId, nonce, runId: parsed.data.toLowerCase() }),
    );
  });
}

/** @throws ApiError `invalid_request` for an agent or a status that cannot be. */
function runsFilter(query: Record<string, unknown>): RunsFilter {
  const parsed = runsQuery.safeParse(query);
  if (parsed.success) return { agentId: parsed.data.agent_id, status: parsed.data.status };
  const [issue] = parsed.error.issues;
  throw new ApiError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}.`);
}
