import * as z from 'zod';
import { canonicalJson } from '../canonical-json.js';
import { unreachableAgent } from '../listings/own-agents.js';
import { givenListingId, jsonObject, lamports, timestamp, walletAddress } from '../primitives.js';

/** Longest reason of an operator's decision, in characters. */
export const OPERATOR_REASON_CHARACTERS = 1_000;

/** Longest task and text input of a test run, in characters. */
const TEST_RUN_CHARACTERS = 8_000;

const reason = z.string().trim().min(1).max(OPERATOR_REASON_CHARACTERS);

/** One day in UTC of the whole marketplace. */
const operatorDay = z
  .object({
    started_at: timestamp,
    /** Runs by their end. */
    completed: z.int().min(0),
    failed: z.int().min(0),
    undelivered: z.int().min(0),
    /** Sales and charges, less the protocol's fee. A fork can lower it later. */
    earned_lamports: z.int(),
    /** The protocol's fee on them, from `earned_lamports` and the present rate. */
    fee_lamports: z.int(),
  })
  .meta({ id: 'OperatorDay' });

/** Answer of `GET /v1/operator/overview`. */
export const operatorOverview = z
  .object({
    /** As `GET /ready` says. */
    ready: z.boolean(),
    reasons: z.array(z.string()),
    /** Registrations that wait for a first review; at most 100 are counted. */
    waiting_reviews: z.int().min(0),
    /** The program's admin, whose wallet alone takes listings down and restores them. */
    admin: walletAddress,
    /** The last 30 days, the oldest first. */
    days: z.array(operatorDay),
  })
  .meta({ id: 'OperatorOverview' });
export type OperatorOverview = z.infer<typeof operatorOverview>;

/** A registration that waits for a first review. Texts are its creator's. */
const waitingReview = z
  .object({
    listing_id: givenListingId,
    version: z.int().min(1),
    creator: walletAddress,
    title: z.string(),
    description: z.string(),
    category: z.array(z.string()),
    rental_model: z.string().nullable(),
    price_lamports: lamports.nullable(),
    /** Why the service could not reach it; null where it could. */
    unreachable: unreachableAgent.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'WaitingReview' });
export type WaitingReview = z.infer<typeof waitingReview>;

/** Answer of `GET /v1/operator/reviews`, the longest waiting first; at most 100. */
export const operatorReviews = z
  .object({ reviews: z.array(waitingReview), total: z.int().min(0) })
  .meta({ id: 'OperatorReviews' });

/** A listing with open reports. Texts are strangers'. */
const operatorReport = z
  .object({
    listing_id: givenListingId,
    title: z.string(),
    creator: walletAddress,
    status: z.string(),
    /** Open reports, also by reason, and closed ones. */
    open: z.int().min(1),
    reasons: z.record(z.string(), z.int()),
    closed: z.int().min(0),
    oldest_at: timestamp,
    /** The newest open ones. */
    reports: z.array(
      z.object({ wallet: walletAddress, reason: z.string(), text: z.string(), created_at: timestamp }),
    ),
  })
  .meta({ id: 'ReportedListing' });
export type OperatorReport = z.infer<typeof operatorReport>;

/** Answer of `GET /v1/operator/reports`, the most reported first; at most 100 listings. */
export const operatorReports = z
  .object({ listings: z.array(operatorReport) })
  .meta({ id: 'OperatorReports' });

/** Answer of `GET /v1/operator/actions`: the newest decisions on record, the newest first. */
export const operatorActions = z
  .object({
    actions: z.array(
      z.object({
        id: z.int(),
        action: z.string(),
        /** A listing, a wallet or a run. */
        subject: z.string(),
        reason: z.string().nullable(),
        operator: z.string(),
        /** Of a transaction, or of the wallet over the decision; null for a command on the operator's machine. */
        signature: z.string().nullable(),
        created_at: timestamp,
      }),
    ),
  })
  .meta({ id: 'OperatorActions' });
export type OperatorActions = z.infer<typeof operatorActions>;

const testRun = z
  .strictObject({
    task: z.string().min(1).max(TEST_RUN_CHARACTERS),
    input: z.union([z.string().max(TEST_RUN_CHARACTERS), jsonObject]),
  })
  .meta({ id: 'TestRun' });

/** Body of `POST /v1/operator/decisions`: a decision that the operator's wallet signs. */
export const operatorDecision = z
  .discriminatedUnion('action', [
    z
      .strictObject({
        action: z.literal('approve'),
        listing_id: givenListingId,
        /** The version that was looked at. */
        version: z.int().min(1),
      })
      .meta({ id: 'ApproveAgent' }),
    z
      .strictObject({ action: z.literal('reject'), listing_id: givenListingId, reason })
      .meta({ id: 'RejectAgent' }),
    /** Closes the open reports of a listing. */
    z
      .strictObject({ action: z.literal('resolve_reports'), listing_id: givenListingId, reason })
      .meta({ id: 'ResolveReports' }),
    /** A banned wallet registers and publishes nothing. */
    z.strictObject({ action: z.literal('ban'), wallet: walletAddress, reason }).meta({ id: 'BanCreator' }),
    z
      .strictObject({ action: z.literal('unban'), wallet: walletAddress, reason })
      .meta({ id: 'UnbanCreator' }),
    /** The reason of a `moderate` transaction of the admin, after it landed. */
    z
      .strictObject({
        action: z.enum(['take_down', 'restore']),
        listing_id: givenListingId,
        reason,
        /** Its signature. */
        transaction: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/),
      })
      .meta({ id: 'ModerationReason' }),
    /** The wallet of the run gets a free run of its agent. */
    z.strictObject({ action: z.literal('credit'), run_id: z.uuid(), reason }).meta({ id: 'CreditRun' }),
    /** Shows all of an agent, its system prompt included, and runs it once on `test_run`. */
    z
      .strictObject({ action: z.literal('review'), listing_id: givenListingId, test_run: testRun.optional() })
      .meta({ id: 'ReviewAgent' }),
  ])
  .meta({ id: 'OperatorDecision' });
export type OperatorDecision = z.infer<typeof operatorDecision>;

/** Answer of `POST /v1/operator/decisions`. */
export const operatorDecided = z
  .object({
    decided: z.literal(true),
    /** Of `review`: all that a reviewer judges. Texts are the creator's. */
    sheet: jsonObject.optional(),
    /** Of `review` with a test run: its output, or the problem. */
    test_run: jsonObject.optional(),
  })
  .meta({ id: 'OperatorDecided' });

export type OperatorDecided = z.infer<typeof operatorDecided>;

/** Query of `GET /v1/operator/find`. */
export const operatorFindQuery = z.strictObject({
  /** Of a run, a request, a wallet or a listing. */
  id: z.string().min(1).max(100),
});

/** Answer of `GET /v1/operator/find`: the facts on record, without inputs, outputs, prompts and keys. */
export const operatorFound = z
  .object({ kind: z.enum(['run', 'wallet', 'listing']), found: jsonObject })
  .meta({ id: 'OperatorFound' });

/** The text that an operator's wallet signs. It shows the whole decision. The challenge ends after 60 seconds and works once. */
export function operatorMessage(
  { service, wallet, decision }: { service: string; wallet: string; decision: OperatorDecision },
  challenge: string,
): string {
  return [
    'agent-rental: a decision of an operator',
    `service: ${service}`,
    `decision: ${canonicalJson(decision)}`,
    `wallet: ${wallet}`,
    challenge,
  ].join('\n');
}
