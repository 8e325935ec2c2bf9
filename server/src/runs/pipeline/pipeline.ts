import type { RunRefusal } from '@agent-rental/contract';
import { ApiError } from '../../errors/api-error.js';
import { answerOf, type TaskAnswer } from '../calls/answer-of.js';
import { resolveCall } from '../calls/resolve-call.js';
import { errorOfUndelivered } from '../calls/waiting-callers.js';
import { NoSlotError } from '../queue/slots.js';
import { parseOrder } from './order.js';
import { parse } from './parse.js';
import type { RunTaskDeps, TaskRequest } from './request.js';
import { start } from './start.js';
import type { Order } from '../task.js';

/**
 * Runs a task for a caller. It resolves the call, and then takes seven steps: 1 parse, 2 admit, 3 slot, 4 check, 5 charge,
 * 6 run, 7 deliver. A failed run is a value. A run that could not be served is an ApiError; then nothing was charged, or the
 * charge is credited. From step 3 on the run does not depend on its request. It may go on after the caller has left, and
 * `cancel` stops it from any replica.
 */
export async function runTask(deps: RunTaskDeps, request: TaskRequest): Promise<TaskAnswer> {
  try {
    return await serve(deps, request);
  } catch (error) {
    const why = refusalOf(error);
    if (why) deps.noted.noteRefusal(request.body.agent_id, why);
    throw error;
  }
}

/** The reason of a refusal, as its creator reads it; undefined for all other errors. `parse` notes the limit of executions. */
function refusalOf(error: unknown): RunRefusal | undefined {
  if (error instanceof NoSlotError) return 'no_slot';
  // A refusal by the caller's own policy is not the listing's.
  if (!(error instanceof ApiError) || error.policyRule !== undefined) return undefined;
  return error.code === 'insufficient_balance' ? 'insufficient_balance' : undefined;
}

async function serve(deps: RunTaskDeps, request: TaskRequest): Promise<TaskAnswer> {
  const { owner, caller, body, idempotencyKey, requestId, address } = request;
  const order = { ...parseOrder(owner, body, idempotencyKey, requestId), address };
  const call = await resolveCall(deps, order, caller);
  if (call.kind !== 'new') return answerOf(deps, call.run, order, request);
  const key = order.key && `${owner.wallet} ${order.key.name}`;
  // Equal requests at once are one run: counted one by one, most of them would be refused for want of a slot.
  const started = await deps.keyTurns.take(key, async (hasWaited) => {
    const isNew = !hasWaited || (await resolveCall(deps, order, caller)).kind === 'new';
    return isNew ? begin(deps, order, request) : undefined;
  });
  if (started) {
    const run = { runId: order.runId, agentId: order.listingId };
    return deps.waitingCallers.waitFor(run, caller, started.work);
  }
  // Another request with the key was recorded first.
  const first = await resolveCall(deps, order, caller);
  if (first.kind === 'new') throw errorOfUndelivered();
  return answerOf(deps, first.run, order, request);
}

/** Records the run of a new call, and lets it work; undefined where its key has another run. */
async function begin(deps: RunTaskDeps, order: Order, request: TaskRequest): ReturnType<typeof start> {
  // Here a full queue refuses at the least cost: nothing was read or counted yet.
  await deps.slots.requireRoom(order, request.caller.gone);
  const { task, access } = await parse(deps, order, request);
  return start(deps, task, request, access);
}
