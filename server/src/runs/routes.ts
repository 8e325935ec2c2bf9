import { operations, type Run } from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Spending } from '../spending/index.js';
import { ApiError, internalError } from '../errors/api-error.js';
import { toApiError } from '../http/server.js';
import { headersOfStream } from '../http/stream-headers.js';
import { addOperation } from '../http/operation-route.js';
import { ownerOf } from '../access/owner.js';
import type { Principal } from '../access/principal.js';
import type { AgentRuns } from './history/agent-runs.js';
import type { AgentStats } from './stats/agent-stats.js';
import type { AgentsStats } from './stats/agents-stats.js';
import { toRun, type PastRuns } from './history/past-runs.js';
import { readPreferences } from '../http/prefer.js';
import type { Receipts } from './history/receipts.js';
import type { RenterSpending } from './stats/renter-spending.js';
import type { TaskAnswer } from './calls/answer-of.js';
import type { TaskRequest } from './pipeline/request.js';
import { SseStream } from './delivery/sse-stream.js';

/** The services behind the routes. */
export interface ExecutionServices {
  runTask(request: TaskRequest): Promise<TaskAnswer>;
  pastRuns: PastRuns;
  agentRuns: AgentRuns;
  agentStats: AgentStats;
  agentsStats: AgentsStats;
  renterSpending: RenterSpending;
  receipts: Receipts;
  spending: Pick<Spending, 'allowanceOf'>;
}

/** Adds the routes that run tasks and read runs. */
export function executionRoutes(app: FastifyInstance, services: ExecutionServices): void {
  const { runTask, pastRuns, agentRuns, agentStats, agentsStats, renterSpending, receipts, spending } =
    services;
  /** The part of a request that both ways of running a task share. */
  const taskRequest = (
    principal: Principal,
    body: TaskRequest['body'],
    request: FastifyRequest,
    reply: FastifyReply,
  ): TaskRequest => {
    const header = request.headers['idempotency-key'];
    const idempotencyKey = Array.isArray(header) ? header[0] : header;
    return {
      owner: ownerOf(principal),
      address: principal.address,
      allowance: spending.allowanceOf(principal),
      body,
      requestId: request.id,
      idempotencyKey,
      logger: request.log,
      receivedAt: performance.now() - reply.elapsedTime,
      caller: {
        gone: goneSignal(reply),
        patienceMs: undefined,
        mayComeBack: idempotencyKey !== undefined,
        hasPaid: typeof request.payerOfRun === 'string',
      },
      onExecutionRate(rate) {
        // The headers show the tighter of the two limits.
        if (!request.rate || rate.remaining < request.rate.remaining) request.rate = rate;
      },
    };
  };

  addOperation(app, operations.execute, async ({ principal, body, request, reply }) => {
    const asked = taskRequest(principal, body, request, reply);
    const { respondAsync, waitSeconds = 0 } = readPreferences(request.headers['prefer']);
    // RFC 7240, section 3: says which preference was honoured.
    if (respondAsync) reply.header('Preference-Applied', `respond-async, wait=${waitSeconds}`);
    const patienceMs = respondAsync ? waitSeconds * 1000 : undefined;
    const answer = await runTask({ ...asked, caller: { ...asked.caller, patienceMs } });
    reply.header('X-Run-Id', answer.runId);
    if (answer.status !== 'running') return { ...toRun(answer), ...joinedOf(answer) };
    const { runId, agentId, status } = answer;
    reply.code(202).header('Location', `/v1/runs/${runId}`);
    return { run_id: runId, agent_id: agentId, status, ...joinedOf(answer) };
  });

  addOperation(app, operations.executeStream, async ({ principal, body, request, reply }) => {
    const stream = new SseStream(reply.raw, () => headersOfStream(reply, request));
    const startedAt = performance.now();
    try {
      const answer = await runTask({ ...taskRequest(principal, body, request, reply), sink: stream });
      if (answer.status === 'running') throw internalError('a stream ended before its run');
      reply.hijack();
      stream.begin(answer.runId);
      const { agent_id: _, ...done } = toRun(answer);
      stream.done({ ...done, ...joinedOf(answer) });
    } catch (error) {
      if (!stream.started) {
        // The run may still be paid later, and would then start to stream into the error response.
        stream.abandon();
        throw error;
      }
      // The headers have left with a 200: the error can only be told inside the stream.
      reply.hijack();
      const apiError = toApiError(error);
      // A caller that disconnected is not an error of the service.
      if (apiError.status >= 500)
        request.log.error({ err: apiError.cause ?? apiError }, 'a stream broke off');
      stream.done({
        run_id: apiError.runId ?? stream.runId,
        status: 'failed',
        cost_lamports: 0,
        duration_ms: Math.round(performance.now() - startedAt),
        output: apiError.message,
        error: apiError.body(request.id),
      });
    }
  });

  addOperation(app, operations.getRun, ({ principal, params, request, reply }) => {
    const { waitSeconds } = readPreferences(request.headers['prefer']);
    if (waitSeconds !== undefined) reply.header('Preference-Applied', `wait=${waitSeconds}`);
    return pastRuns.find(params.run_id, ownerOf(principal), (waitSeconds ?? 0) * 1000, goneSignal(reply));
  });

  addOperation(app, operations.listRuns, async ({ principal, query }) => {
    const { runs, total, end } = await pastRuns.list(ownerOf(principal), query);
    return { runs, total, limit: query.limit, offset: query.offset, ...end };
  });

  addOperation(app, operations.listAgentRuns, async ({ principal, params, query }) => {
    const { runs, total, end } = await agentRuns.list(principal.wallet, params.listing_id, query);
    return { runs, total, limit: query.limit, offset: query.offset, ...end };
  });

  addOperation(app, operations.getAgentStats, ({ principal, params, query }) =>
    agentStats.read(principal.wallet, params.listing_id, query.window),
  );

  addOperation(app, operations.getAgentsStats, ({ principal, query }) =>
    agentsStats.read(ownerOf(principal), query.window),
  );

  addOperation(app, operations.getSpending, ({ principal, query }) =>
    renterSpending.read(ownerOf(principal), query.window),
  );

  addOperation(app, operations.getReceipt, ({ principal, params, query }) =>
    receipts.find(params.run_id, ownerOf(principal), query.include === 'transaction'),
  );

  addOperation(app, operations.cancelRun, ({ principal, params, reply }) =>
    pastRuns.cancel(params.run_id, ownerOf(principal), goneSignal(reply)),
  );

  addOperation(app, operations.cancelRunByKey, ({ principal, body, reply }) =>
    pastRuns.cancelKey(body.idempotency_key, ownerOf(principal), goneSignal(reply)),
  );
}

/** Tells of a run that the same call started earlier. */
function joinedOf({ joinedRunOf }: TaskAnswer): Pick<Run, 'joined'> {
  if (joinedRunOf === undefined) return {};
  const seconds = Math.round((Date.now() - joinedRunOf.getTime()) / 1000);
  return { joined: { begun_seconds_ago: Math.max(0, seconds) } };
}

/** Aborts when the connection breaks before the answer is complete. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new ApiError('invalid_request', 'The caller went away.'));
  // A connection that closed before this point emits no further event.
  if (reply.raw.destroyed) abort();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) abort();
  });
  return controller.signal;
}
