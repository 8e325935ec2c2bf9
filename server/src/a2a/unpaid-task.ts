import { isApiError, type ApiError } from '@agent-rental/sdk';
import { TaskState, type Task } from '@a2a-js/sdk';
import { messageOf, RENTAL_EXTENSION, statusOf, textPart } from './task-of-run.js';

const PREFIX = 'unpaid-';

/** A message that began no run. Its task's id has all that is known of it: the service keeps none. */
export interface UnpaidTask {
  agentId: string;
  contextId: string;
}

/** The id of such a task. */
function idOf({ agentId, contextId }: UnpaidTask): string {
  return PREFIX + Buffer.from(JSON.stringify([agentId, contextId])).toString('base64url');
}

/** Reads the id of such a task; undefined for other ids. */
export function readUnpaid(id: string): UnpaidTask | undefined {
  if (!id.startsWith(PREFIX)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8'));
    if (!Array.isArray(parts)) return undefined;
    const [agentId, contextId] = parts as unknown[];
    return typeof agentId === 'string' && typeof contextId === 'string' ? { agentId, contextId } : undefined;
  } catch {
    return undefined;
  }
}

/** A task without a run, in a state and with a text for its caller. */
export function unpaidTask(
  unpaid: UnpaidTask,
  state: TaskState,
  text: string,
  facts?: Record<string, unknown>,
): Task {
  const id = idOf(unpaid);
  const contextId = unpaid.contextId || id;
  return {
    id,
    contextId,
    status: statusOf(
      state,
      messageOf({ taskId: id, contextId }, [textPart(text)], `${id.slice(0, 60)}-state`),
    ),
    artifacts: [],
    history: [],
    metadata: facts && { [RENTAL_EXTENSION]: facts },
  };
}

/** The page on which a person rents an agent, or tops it up. */
function rentUrlOf(publicUrl: string, agentId: string): string {
  return new URL(`/dashboard/rent/${encodeURIComponent(agentId)}`, publicUrl).href;
}

const UNPAID_CODES: ReadonlySet<string> = new Set([
  'credential_not_found',
  'credential_expired',
  'insufficient_balance',
]);
const REFUSED_CODES: ReadonlySet<string> = new Set(['listing_paused', 'listing_suspended', ...UNPAID_CODES]);

/**
 * The task of a call that was refused before it ran: it waits for a payment or a person's yes, or is rejected.
 * Undefined for other errors, which are the protocol's.
 */
export function taskOfRefusal(error: unknown, unpaid: UnpaidTask, publicUrl: string): Task | undefined {
  if (!isApiError(error) || !REFUSED_CODES.has(error.code)) return undefined;
  const { code, reason } = error;
  if (error.approval)
    return unpaidTask(
      unpaid,
      TaskState.TASK_STATE_AUTH_REQUIRED,
      `${reason} The owner of the wallet answers at ${error.approval.url}. Then send the same message again.`,
      { code, approvalUrl: error.approval.url },
    );
  if (!isForPayment(error)) return unpaidTask(unpaid, TaskState.TASK_STATE_REJECTED, reason, { code });
  return waitingForPayment(unpaid, publicUrl, reason, { code });
}

/** The task that waits until its agent is rented, or topped up. */
export function waitingForPayment(
  unpaid: UnpaidTask,
  publicUrl: string,
  reason: string,
  facts: Record<string, unknown> = {},
): Task {
  const rentUrl = rentUrlOf(publicUrl, unpaid.agentId);
  return unpaidTask(
    unpaid,
    TaskState.TASK_STATE_AUTH_REQUIRED,
    `${reason} The owner of the wallet pays at ${rentUrl}. Then send the same message again. Nothing was charged.`,
    { ...facts, rentUrl },
  );
}

/** Whether a payment of the wallet mends it. */
function isForPayment({ code, policyRule, requiredScopes }: ApiError): boolean {
  return UNPAID_CODES.has(code) && policyRule === undefined && requiredScopes === undefined;
}
