import { isApiError, isUntrustedChallenge, type ApiError } from '@agent-rental/sdk';
import { creatorLine, MARKETPLACE_MARK } from '../text/creator-text.js';
import { lamportsText } from '../text/lamports-text.js';
import { NEXT_STEP_OF_POLICY, nextStep } from './next-step.js';
import type { ToolResult } from './rented-tool.js';
import { ApprovalRequiredError, SpendingRefusedError, type SpendingRequest } from '../spending/policy.js';

/**
 * An error result for an exception of a call.
 *
 * @param unanswered the advice if no answer came.
 */
export function resultOfError(thrown: unknown, unanswered = nextStep('connection_error')): ToolResult {
  if (thrown instanceof SpendingRefusedError) {
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} spending_refused: ${thrown.message} ${nextStep('spending_refused')}`,
      error: { code: 'spending_refused', rule: thrown.rule },
    };
  }
  if (thrown instanceof ApprovalRequiredError) return resultOfMissingApproval(thrown.request);
  if (isUntrusted(thrown)) {
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} untrusted_transaction: ${thrown.message} ${nextStep('untrusted_transaction')}`,
      error: { code: 'untrusted_transaction' },
    };
  }
  if (isUntrustedChallenge(thrown)) {
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} untrusted_challenge: ${thrown.message} ${nextStep('untrusted_challenge')}`,
      error: { code: 'untrusted_challenge' },
    };
  }
  if (!isApiError(thrown)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      status: 'error',
      text: `${MARKETPLACE_MARK} connection_error: ${creatorLine(message, 300)} ${unanswered}`,
      error: { code: 'connection_error' },
    };
  }
  if (thrown.approval !== undefined) return resultOfAskedOwner(thrown, thrown.approval);
  return {
    status: 'error',
    text: `${MARKETPLACE_MARK} ${thrown.code}: ${creatorLine(thrown.reason, 600)} ${adviceFor(thrown)}`,
    ...(thrown.runId === undefined ? {} : { runId: thrown.runId }),
    error: {
      code: thrown.code,
      status: thrown.status,
      ...(thrown.requestId === undefined ? {} : { requestId: thrown.requestId }),
      ...(thrown.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: thrown.retryAfterSeconds }),
    },
  };
}

function resultOfMissingApproval(request: SpendingRequest): ToolResult {
  const { agentId, lamports, kind } = request;
  const what = kind === 'rental' ? `Renting ${agentId} for` : `A run of ${agentId} at`;
  return {
    status: 'error',
    text:
      `${MARKETPLACE_MARK} approval_required: ${what} ${lamportsText(lamports)} has to be approved by a person, and ` +
      `there is no way to ask one here. ${nextStep('approval_required')}`,
    error: { code: 'approval_required', approval: request },
  };
}

/** The result while the API key waits for its owner's approval. This is not a refusal. */
function resultOfAskedOwner(
  { reason, status, requestId }: ApiError,
  { id, url, expires_at }: NonNullable<ApiError['approval']>,
): ToolResult {
  const said = creatorLine(reason, 600);
  return {
    status: 'error',
    text:
      `${MARKETPLACE_MARK} approval_required: ${said} Nothing was spent. Tell the user to open ${creatorLine(url, 300)} and to ` +
      'answer there. After the approval, call again with exactly the same arguments.',
    error: {
      code: 'approval_required',
      status,
      ownerApproval: { id, url, expiresAt: expires_at, reason: said },
      ...(requestId === undefined ? {} : { requestId }),
    },
  };
}

/** Recognises the SDK's error without a load of the chain's library. */
function isUntrusted(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'UntrustedTransactionError';
}

/** An error result for arguments that the tools refuse themselves. */
export function resultOfBadArguments(message: string): ToolResult {
  return {
    status: 'error',
    text: `${MARKETPLACE_MARK} invalid_request: ${message} Nothing was sent or charged: correct it and call again.`,
    error: { code: 'invalid_request' },
  };
}

function adviceFor(error: ApiError): string {
  const isByKey = error.policyRule !== undefined || error.requiredScopes !== undefined;
  const said = [isByKey ? NEXT_STEP_OF_POLICY : nextStep(error.code)];
  if (error.runId !== undefined) {
    said.splice(
      0,
      1,
      `The run had started: get_run {"run_id": "${error.runId}"} gives its result once there is one.`,
    );
  }
  if (error.retryAfterSeconds !== undefined) said.push(`Wait ${error.retryAfterSeconds} seconds first.`);
  if (error.requestId !== undefined) said.push(`(request ${creatorLine(error.requestId, 80)})`);
  return said.join(' ');
}
