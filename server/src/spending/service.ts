import { setTimeout as pause } from 'node:timers/promises';
import {
  approvalMessage,
  APPROVAL_HOLDS_MINUTES,
  APPROVAL_PAGE_PATH,
  APPROVALS_PAGE_PATH,
  OPEN_APPROVALS_OF_KEY,
  type operations,
  type SpendingApproval,
} from '@agent-rental/contract';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.js';
import type { Owner } from '../access/owner.js';
import type { Challenges } from '../identity/index.js';
import { cleanLine } from '../listings/index.js';
import type { SpendingApprovals } from './allowance.js';
import type { ApprovalRepository, ApprovalRow, KnownApproval } from './repository.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TITLE_CHARACTERS = 120;
/** Between two looks at a question whose answer a caller waits for. */
const LOOK_MS = 1_000;

/** The questions of API keys as their owners see and answer them. */
export interface AskedApprovals {
  /** Open questions of the wallet's keys, newest first. */
  list(owner: Owner): Promise<SpendingApproval[]>;
  /**
   * One question; waits for its answer for as long as is asked. A key reads its own questions alone.
   *
   * @throws ApiError `not_found` for one that does not exist or is another's
   */
  read(owner: Owner, id: string, wait?: { waitMs: number; gone: AbortSignal }): Promise<SpendingApproval>;
  /**
   * Answers an open question, once.
   *
   * @param service host of the service, which the wallet's signature names
   * @throws ApiError `not_found`; `invalid_signature` for a yes that the wallet has not signed; `invalid_request` for a question
   *   that is open no more
   */
  answer(
    owner: Owner,
    id: string,
    body: z.output<typeof operations.answerApproval.body>,
    service: string,
  ): Promise<SpendingApproval>;
}

/** Makes the service. @param baseUrl where people reach the marketplace */
export function createSpendingApprovals(
  repository: ApprovalRepository,
  challenges: Pick<Challenges, 'redeem'>,
  baseUrl: () => string,
): SpendingApprovals & AskedApprovals {
  const pageOf = (path: string) => new URL(path, baseUrl()).href;
  const find = async (owner: Owner, id: string): Promise<SpendingApproval> => {
    const row = UUID.test(id) ? await repository.read(owner, id) : undefined;
    if (row === undefined) throw new ApiError('not_found', 'There is no such question.');
    return toApproval(row);
  };
  const refusalOf = ({ id, state, expires_at }: KnownApproval, lamports: bigint): ApiError => {
    if (state === 'refused') {
      return new ApiError('insufficient_balance', 'The owner of the wallet has refused this.', {
        next: `Nothing was charged. The answer holds for ${APPROVAL_HOLDS_MINUTES} minutes.`,
        policyRule: 'ask_above_lamports',
      });
    }
    const url = pageOf(APPROVAL_PAGE_PATH.replace(':approval_id', id));
    return new ApiError(
      'insufficient_balance',
      `The owner of the wallet has to approve this first: it takes up to ${lamports} lamports, more than the API key may spend by itself.`,
      {
        next: `Nothing was charged. They answer at ${url} (until ${expires_at.toISOString()}); then send the same request again.`,
        policyRule: 'ask_above_lamports',
        approval: { id, url, expires_at: expires_at.toISOString() },
      },
    );
  };

  return {
    async require(question) {
      const known = (await repository.find(question)) ?? (await repository.open(question));
      if (known?.state === 'approved') return;
      if (known !== undefined) throw refusalOf(known, question.lamports);
      throw new ApiError(
        'insufficient_balance',
        `The owner of the wallet has to approve this first, and ${OPEN_APPROVALS_OF_KEY} questions of this API key wait for an answer already, at ${pageOf(APPROVALS_PAGE_PATH)}.`,
        {
          next: 'Nothing was charged. Send the request again once they are answered.',
          policyRule: 'ask_above_lamports',
        },
      );
    },

    use: (on, question, spendId) => repository.use(on, question, spendId),

    giveBack: (apiKeyId, spendId) => repository.giveBack(apiKeyId, spendId),

    list: async (owner) => (await repository.list(owner)).map(toApproval),

    async read(owner, id, { waitMs, gone } = { waitMs: 0, gone: new AbortController().signal }) {
      const until = performance.now() + waitMs;
      for (;;) {
        const approval = await find(owner, id);
        const leftMs = until - performance.now();
        if (approval.state !== 'open' || leftMs <= 0) return approval;
        await pause(Math.min(LOOK_MS, leftMs), undefined, { signal: gone }).catch(() => undefined);
        if (gone.aborted) return approval;
      }
    },

    async answer(owner, id, body, service) {
      const asked = await find(owner, id);
      const requireOpen = (isOpen: boolean, { state }: SpendingApproval) => {
        if (isOpen) return;
        throw new ApiError('invalid_request', `The question is not open any more: it is ${state}.`);
      };
      requireOpen(asked.state === 'open', asked);
      if (body.answer === 'approve') {
        const { challenge, signature } = body;
        const { wallet } = owner;
        await challenges.redeem({ wallet, challenge, signature }, ({ challenge: issued }) =>
          approvalMessage({ ...asked, service, wallet }, issued),
        );
      }
      const isAnswered = await repository.answer(
        owner,
        id,
        body.answer === 'approve' ? 'approved' : 'refused',
      );
      const answered = await find(owner, id);
      requireOpen(isAnswered, answered);
      return answered;
    },
  };
}

function toApproval(row: ApprovalRow): SpendingApproval {
  return {
    id: row.id,
    kind: row.kind,
    lamports: Number(row.lamports),
    listing_id: row.listing_id,
    listing_title: cleanLine((row.listing_title ?? '').slice(0, TITLE_CHARACTERS)),
    api_key_label: row.api_key_label,
    state: row.state,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
