import { isApiError, isUntrustedChallenge, type ApiError } from '@agent-rental/sdk';
import { creatorLine, MARKETPLACE_MARK } from '../text/creator-text.js';
import { lamportsText } from '../text/lamports-text.js';
import { NEXT_STEP_OF_POLICY, nextStep } from './next-step.js';
import type { ToolError, ToolResult } from './rented-tool.js';
import { ApprovalRequiredError, SpendingRefusedError, type SpendingRequest } from '../spending/policy.js';

const errorResult = (error: ToolError, words: string): ToolResult => ({
  status: 'error',
  text: `${MARKETPLACE_MARK} ${error.code}: ${words}`,
  error,
});

/**
 * An error result for an exception of a call.
 *
 * @param unanswered the advice if no answer came.
 */
export function resultOfError(thrown: unknown, unanswered = nextStep('connection_error')): ToolResult {
  if (thrown instanceof SpendingRefusedError) {
    const { rule, message } = thrown;
    return errorResult({ code: 'spending_refused', rule }, `${message} ${nextStep('spending_refused')}`);
  }
  if (thrown instanceof ApprovalRequiredError) return resultOfMissingApproval(thrown.request);
  const untrusted = untrustedCode(thrown);
  if (untrusted !== undefined) {
    return errorResult({ code: untrusted }, `${(thrown as Error).message} ${nextStep(untrusted)}`);
  }
  if (!isApiError(thrown)) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return errorResult({ code: 'connection_error' }, `${creatorLine(message, 300)} ${unanswered}`);
  }
  if (thrown.approval !== undefined) return resultOfAskedOwner(thrown, thrown.approval);
  const { code, status, requestId, retryAfterSeconds, runId } = thrown;
  const error = {
    code,
    status,
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
  const result = errorResult(error, `${creatorLine(thrown.reason, 600)} ${adviceFor(thrown)}`);
  return runId === undefined ? result : { ...result, runId };
}

function resultOfMissingApproval(request: SpendingRequest): ToolResult {
  const { agentId, lamports, kind } = request;
  const what = kind === 'rental' ? `Renting ${agentId} for` : `A run of ${agentId} at`;
  return errorResult(
    { code: 'approval_required', approval: request },
    `${what} ${lamportsText(lamports)} has to be approved by a person, and there is no way to ask one here. ` +
      nextStep('approval_required'),
  );
}

/** The result while the API key waits for its owner's approval. This is not a refusal. */
function resultOfAskedOwner(
  { reason, status, requestId }: ApiError,
  { id, url, expires_at }: NonNullable<ApiError['approval']>,
): ToolResult {
  const said = creatorLine(reason, 600);
  const ownerApproval = { id, url, expiresAt: expires_at, reason: said };
  return errorResult(
    {
      code: 'approval_required',
      status,
      ownerApproval,
      ...(requestId === undefined ? {} : { requestId }),
    },
    `${said} Nothing was spent. Tell the user to open ${creatorLine(url, 300)} and to answer there. ` +
      'After the approval, call again with exactly the same arguments.',
  );
}

/** Recognises the SDK's error about a transaction without a load of the chain's library. */
function untrustedCode(thrown: unknown): 'untrusted_transaction' | 'untrusted_challenge' | undefined {
  if (isUntrustedChallenge(thrown)) return 'untrusted_challenge';
  const isTransaction = thrown instanceof Error && thrown.name === 'UntrustedTransactionError';
  return isTransaction ? 'untrusted_transaction' : undefined;
}

/** An error result for arguments that the tools refuse themselves. */
export function resultOfBadArguments(message: string): ToolResult {
  return errorResult(
    { code: 'invalid_request' },
    `${message} Nothing was sent or charged: correct it and call again.`,
  );
}

function adviceFor(error: ApiError): string {
  const isByKey = error.policyRule !== undefined || error.requiredScopes !== undefined;
  const next = isByKey ? NEXT_STEP_OF_POLICY : nextStep(error.code);
  const started = `The run had started: get_run {"run_id": "${error.runId}"} gives its result once there is one.`;
  const said = [error.runId === undefined ? next : started];
  if (error.retryAfterSeconds !== undefined) said.push(`Wait ${error.retryAfterSeconds} seconds first.`);
  if (error.requestId !== undefined) said.push(`(request ${creatorLine(error.requestId, 80)})`);
  return said.join(' ');
}
