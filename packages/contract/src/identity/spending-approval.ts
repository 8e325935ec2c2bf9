import * as z from 'zod';
import { base58Signature, lamports, timestamp } from '../primitives.js';

/**
 * States of an approval of one spend. `used`: the approval has paid for its spend. `expired`: the answer or the spend came
 * too late.
 */
export const APPROVAL_STATES = ['open', 'approved', 'refused', 'used', 'expired'] as const;

/** A question of an API key to the owner of its wallet: whether one call may spend so much. */
export const spendingApproval = z
  .object({
    id: z.string(),
    /** `run`: a prepaid balance pays. `rental`: the wallet pays. */
    kind: z.enum(['run', 'rental']),
    /** The most that the call may spend. For a rental: its price or deposit, without the network's fee and rent. */
    lamports,
    listing_id: z.string(),
    /** The words of the listing's creator, on one line. */
    listing_title: z.string(),
    /** The API key that asks; null where it is not known. */
    api_key_label: z.string().nullable(),
    state: z.enum(APPROVAL_STATES),
    created_at: timestamp,
    /** Deadline of the answer while it is open; afterwards the end of the answer's validity. */
    expires_at: timestamp,
  })
  .meta({ id: 'SpendingApproval' });
export type SpendingApproval = z.infer<typeof spendingApproval>;

/** Answer of `GET /v1/approvals`: the open approvals, newest first. */
export const listApprovalsResponse = z
  .object({ approvals: z.array(spendingApproval) })
  .meta({ id: 'SpendingApprovalList' });

/**
 * Body of `POST /v1/approvals/:approval_id`. A yes lets money move, so the wallet signs `approvalMessage(...)` with a new
 * challenge. A no needs only the login.
 */
export const answerApprovalBody = z
  .discriminatedUnion('answer', [
    z
      .strictObject({
        answer: z.literal('approve'),
        challenge: z.string().max(200),
        signature: base58Signature,
      })
      .meta({ id: 'ApproveSpending' }),
    z.strictObject({ answer: z.literal('refuse') }).meta({ id: 'RefuseSpending' }),
  ])
  .meta({ id: 'AnswerSpendingApproval' });

/** The approval that the error of a refusal offers. The caller sends the owner of its wallet there. */
export const approvalOffer = z
  .object({
    id: z.string(),
    /** The page where the owner answers. */
    url: z.url({ protocol: /^https?$/ }),
    expires_at: timestamp,
  })
  .meta({ id: 'SpendingApprovalOffer' });
export type ApprovalOffer = z.infer<typeof approvalOffer>;

/** The spend that a wallet approves. */
export interface ApprovedSpending extends Pick<SpendingApproval, 'id' | 'kind' | 'lamports' | 'listing_id'> {
  /** Host of the service, with its port where that is not the scheme's own: `new URL(baseUrl).host`. */
  service: string;
  wallet: string;
}

/** The text that a wallet signs to approve a spend. The challenge holds the time, ends after 60 seconds and works once. */
export function approvalMessage(spending: ApprovedSpending, challenge: string): string {
  const { service, kind, lamports: most, listing_id, id, wallet } = spending;
  const source =
    kind === 'run' ? 'of what is prepaid, for one run' : 'out of the wallet, as price or deposit of a rental';
  return [
    'agent-rental: approve spending',
    `service: ${service}`,
    `amount: up to ${most} lamports ${source}`,
    `listing: ${listing_id}`,
    `approval: ${id}`,
    `wallet: ${wallet}`,
    challenge,
  ].join('\n');
}
