import { operations, type Run } from '@agent-rental/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Spending } from '../identity/index.js';
import { ApiError } from '../platform/api-error.js';
import { rateHeaders, refuseIfExceeded, toApiError } from '../platform/http-server.js';
import { addOperation } from '../platform/operation-route.js';
import type { Principal } from '../platform/principal.js';
import type { RateLimits } from '../platform/rate-limits.js';
import { runTask, type RunTaskDeps, type TaskRequest } from './run-task.js';
import { SseStream } from './sse-stream.js';
import type { FinishedRun } from './run-repository.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Routes of execution. */
export function executionRoutes(
  app: FastifyInstance,
  deps: RunTaskDeps,
  limits: { rateLimits: RateLimits; executionsPerMinute: number; spending: Spending },
): void {
  /** What is the same for both ways of running a task. */
  const taskRequest = (
    principal: Principal,
    body: TaskRequest['body'],
    request: FastifyRequest,
    reply: FastifyReply,
  ): TaskRequest => {
    const header = request.headers['idempotency-key'];
    const idempotencyKey = Array.isArray(header) ? header[0] : header;
    const { wallet } = principal;
    return {
      wallet,
      allowance: limits.spending.allowanceOf(principal),
      body,
      idempotencyKey,
      logger: request.log,
      signal: callerGone(reply, (stop) => {
        if (idempotencyKey === undefined) stop();
        else deps.repeats.callerLeft(wallet, idempotencyKey, stop);
      }),
      countExecution: async (listingId, runsPerMinute) => {
        const limit = runsPerMinute ?? limits.executionsPerMinute;
        const state = await limits.rateLimits.count(`run:${wallet}:${listingId}`, limit);
        // The headers show the tighter of the two limits.
        if (!request.rate || state.remaining < request.rate.remaining) request.rate = state;
        refuseIfExceeded(state);
      },
    };
  };

  addOperation(app, operations.execute, async ({ principal, body, request, reply }) => {
    const finished = await runTask(deps, taskRequest(principal, body, request, reply));
    reply.header('X-Run-Id', finished.runId);
    return toRun(finished);
  });

  addOperation(app, operations.executeStream, async ({ principal, body, request, reply }) => {
    const stream = new SseStream(reply.raw, () => streamHeaders(reply, request));
    const startedAt = performance.now();
    try {
      const finished = await runTask(deps, {
        ...taskRequest(principal, body, request, reply),
        sink: stream,
      });
      reply.hijack();
      stream.begin(finished.runId);
      const { agent_id: _, ...done } = toRun(finished);
      stream.done(done);
    } catch (error) {
      if (!stream.begun) throw error;
      // The headers have left with a 200: the error can only be told inside the stream.
      reply.hijack();
      const apiError = toApiError(error);
      request.log.error({ err: apiError.cause ?? apiError }, 'a stream broke off');
      stream.done({
        run_id: apiError.runId ?? '',
        status: 'failed',
        cost_lamports: 0,
        duration_ms: Math.round(performance.now() - startedAt),
        output: apiError.message,
        error: apiError.body(request.id),
      });
    }
  });

  addOperation(app, operations.getRun, async ({ principal, params }) => {
    const found = UUID.test(params.run_id)
      ? await deps.runs.find(params.run_id, principal.wallet)
      : undefined;
    if (!found) throw new ApiError('not_found', 'There is no such finished run.');
    return toRun(found);
  });
}

/** Aborts once the caller has gone and `onLeft` has called its `stop`. */
function callerGone(reply: FastifyReply, onLeft: (stop: () => void) => void): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) onLeft(() => controller.abort(new Error('The caller went away.')));
  });
  return controller.signal;
}

/** The headers that other answers get from hooks, which a stream bypasses. */
function streamHeaders(reply: FastifyReply, request: FastifyRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = String(value);
  return { ...headers, ...rateHeaders(request.rate) };
}

function toRun(finished: FinishedRun): Run {
  return {
    run_id: finished.runId,
    agent_id: finished.agentId,
    status: finished.status,
    output: finished.output,
    cost_lamports: Number(finished.costLamports),
    duration_ms: finished.durationMs,
  };
}
