import { operations, type Run, type RunningRun } from '@agent-rental/contract';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Spending } from '../identity/index.js';
import { ApiError } from '../http/api-error.js';
import { rateHeaders, toApiError } from '../http/server.js';
import type { InternalRequests } from '../http/internal-requests.js';
import { addOperation } from '../http/operation-route.js';
import type { Principal } from '../http/principal.js';
import type { AgentRuns } from './history/agent-runs.js';
import type { AgentStats } from './history/agent-stats.js';
import { toRun, type PastRuns } from './history/past-runs.js';
import { watchForCut } from './delivery/cut-answers.js';
import { readPreferences } from '../http/prefer.js';
import type { Receipts } from './history/receipts.js';
import { callScope } from './idempotency/retries.js';
import {
  IMPATIENT_WAIT_MS,
  runTask,
  type RunTaskDeps,
  type TaskReport,
  type TaskRequest,
} from './pipeline/pipeline.js';
import { SseStream } from './delivery/sse-stream.js';

/** Adds the routes that run tasks and read runs. */
export function executionRoutes(
  app: FastifyInstance,
  deps: RunTaskDeps & {
    pastRuns: PastRuns;
    agentRuns: AgentRuns;
    agentStats: AgentStats;
    receipts: Receipts;
  },
  spending: Spending,
  internalRequests: Pick<InternalRequests, 'outerResponseOf'>,
): void {
  /** The part of a request that both ways of running a task share. */
  const taskRequest = (
    principal: Principal,
    body: TaskRequest['body'],
    request: FastifyRequest,
    reply: FastifyReply,
  ): Omit<TaskRequest, 'sink'> => {
    const header = request.headers['idempotency-key'];
    const idempotencyKey = Array.isArray(header) ? header[0] : header;
    const { adoptUndelivered, joinRetry } = readPreferences(request.headers['prefer']);
    return {
      wallet: principal.wallet,
      apiKeyId: principal.apiKey?.id,
      allowance: spending.allowanceOf(principal),
      body,
      idempotencyKey,
      logger: request.log,
      receivedAt: performance.now() - reply.elapsedTime,
      caller: {
        gone: goneSignal(reply),
        patienceMs: undefined,
        mayComeBack: idempotencyKey !== undefined,
      },
      adoptsUndelivered: adoptUndelivered,
      ...(joinRetry === undefined ? {} : { retryScope: callScope(principal.rateKey, joinRetry) }),
      report: {},
    };
  };
  /**
   * Returns the response that the external caller reads; the answer of an internal request is part of another response. Must
   * be called before the request is handled.
   */
  const readBy = (request: FastifyRequest, reply: FastifyReply): ServerResponse =>
    internalRequests.outerResponseOf(request.headers) ?? reply.raw;
  /**
   * Notes whether an answer that is about to be sent reaches its caller.
   *
   * @param isAwaited whether the caller counts as waiting for the run.
   */
  const noteDelivery = (raw: ServerResponse, runId: string, isAwaited = true): void => {
    const note = (noted: Promise<void>) =>
      void noted.catch((err: unknown) => app.log.warn({ err, run_id: runId }, 'a delivery is not on record'));
    const lost = () => {
      if (isAwaited) note(deps.waitingCallers.lost(runId));
    };
    if (raw.destroyed) return lost();
    // A response that is destroyed says that it has finished, too.
    let isNoted = false;
    const conclude = (isDelivered: boolean) => {
      if (isNoted) return;
      isNoted = true;
      if (isDelivered) note(deps.deliveryTracking.delivered(runId));
      else lost();
    };
    raw.once('finish', () => conclude(!raw.destroyed && raw.socket?.destroyed !== true));
    raw.once('close', () => conclude(false));
  };

  /** Notes whether an answer that is about to be sent may have been cut off. */
  const noteCut = (raw: ServerResponse, runId: string): void =>
    watchForCut(raw, () => {
      deps.retries.recordCut(runId).catch((err: unknown) => {
        app.log.warn({ err, run_id: runId }, 'an answer that was cut off is not on record');
      });
    });

  /** How long a request for a run waits; shorter for callers that have short timeouts. */
  const waitOf = async ({ rateKey }: Principal, seconds = 0): Promise<number> => {
    const waitMs = seconds * 1000;
    return waitMs > IMPATIENT_WAIT_MS && (await deps.retries.isImpatient(rateKey))
      ? IMPATIENT_WAIT_MS
      : waitMs;
  };

  addOperation(app, operations.execute, async ({ principal, body, request, reply }) => {
    const reader = readBy(request, reply);
    const asked = taskRequest(principal, body, request, reply);
    const { respondAsync, waitSeconds = 0 } = readPreferences(request.headers['prefer']);
    if (respondAsync) applied(reply, `respond-async, wait=${waitSeconds}`);
    const patienceMs = respondAsync ? waitSeconds * 1000 : undefined;
    const answer = await runTask(deps, { ...asked, caller: { ...asked.caller, patienceMs } }).finally(() =>
      addToHeaders(asked.report, request, reply),
    );
    reply.header('X-Run-Id', answer.runId);
    if (answer.status === 'running') {
      reply.code(202).header('Location', `/v1/runs/${answer.runId}`);
      return runningOf(answer, asked.report);
    }
    noteDelivery(reader, answer.runId);
    if (asked.retryScope) noteCut(reader, answer.runId);
    return { ...toRun(answer), ...joinedOf(asked.report) };
  });

  addOperation(app, operations.executeStream, async ({ principal, body, request, reply }) => {
    const asked = taskRequest(principal, body, request, reply);
    const stream = new SseStream(reply.raw, () => {
      addToHeaders(asked.report, request, reply);
      return streamHeaders(reply, request);
    });
    const startedAt = performance.now();
    const reader = readBy(request, reply);
    try {
      const finished = await runTask(deps, { ...asked, sink: stream });
      reply.hijack();
      stream.begin(finished.runId);
      if (finished.status === 'running') return stream.running(runningOf(finished, asked.report));
      noteDelivery(reader, finished.runId);
      if (asked.retryScope) noteCut(reader, finished.runId);
      const { agent_id: _, ...done } = toRun(finished);
      stream.done({ ...done, ...joinedOf(asked.report) });
    } catch (error) {
      if (!stream.begun) {
        // The run may still be paid later, and would then start to stream into the error response.
        stream.abandon();
        addToHeaders(asked.report, request, reply);
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

  addOperation(app, operations.getRun, async ({ principal, params, request, reply }) => {
    const { waitSeconds } = readPreferences(request.headers['prefer']);
    const waitMs = await waitOf(principal, waitSeconds);
    if (waitSeconds !== undefined) applied(reply, `wait=${waitMs / 1000}`);
    const reader = readBy(request, reply);
    return deps.pastRuns.find(params.run_id, principal.wallet, waitMs, goneSignal(reply), (runId) =>
      noteDelivery(reader, runId, false),
    );
  });

  addOperation(app, operations.listRuns, async ({ principal, query }) => {
    const { runs, total, end } = await deps.pastRuns.list(principal.wallet, query);
    return { runs, total, limit: query.limit, offset: query.offset, ...end };
  });

  addOperation(app, operations.listAgentRuns, async ({ principal, params, query }) => {
    const { runs, total, end } = await deps.agentRuns.list(principal.wallet, params.listing_id, query);
    return { runs, total, limit: query.limit, offset: query.offset, ...end };
  });

  addOperation(app, operations.getAgentStats, ({ principal, params, query }) =>
    deps.agentStats.read(principal.wallet, params.listing_id, query.window),
  );

  addOperation(app, operations.getReceipt, ({ principal, params, query }) =>
    deps.receipts.find(params.run_id, principal.wallet, query.include === 'transaction'),
  );

  addOperation(app, operations.cancelRun, ({ principal, params, reply }) =>
    deps.pastRuns.cancel(params.run_id, principal.wallet, goneSignal(reply)),
  );

  addOperation(app, operations.cancelRunByKey, ({ principal, body, reply }) =>
    deps.pastRuns.cancelKey(body.idempotency_key, principal.wallet, goneSignal(reply)),
  );
}

/** Adds what the pipeline reported to the answer's headers. */
function addToHeaders(
  { executionRate, joined }: TaskReport,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  // The headers show the tighter of the two limits.
  if (executionRate && (!request.rate || executionRate.remaining < request.rate.remaining)) {
    request.rate = executionRate;
  }
  if (joined) applied(reply, joined.how === 'adopted' ? 'adopt-undelivered' : 'join-retry');
}

/** What a caller is told of a run that goes on. */
function runningOf({ runId, agentId }: { runId: string; agentId: string }, report: TaskReport): RunningRun {
  return { run_id: runId, agent_id: agentId, status: 'running', ...joinedOf(report) };
}

/** What an answer says of a run that another request began. */
function joinedOf({ joined }: TaskReport): Pick<Run, 'joined'> {
  if (!joined) return {};
  const seconds = Math.round((Date.now() - joined.begunAt.getTime()) / 1000);
  return { joined: { begun_seconds_ago: Math.max(0, seconds) } };
}

/** Says which preference was honoured (RFC 7240, section 3). */
function applied(reply: FastifyReply, preference: string): void {
  const before = reply.getHeader('Preference-Applied');
  reply.header('Preference-Applied', before === undefined ? preference : `${String(before)}, ${preference}`);
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

/** The headers that other answers get from hooks, which a stream bypasses. */
function streamHeaders(reply: FastifyReply, request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = String(value);
  return { ...headers, ...rateHeaders(request.rate) };
}
