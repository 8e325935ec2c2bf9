import * as z from 'zod';
import { listingId, timestamp } from '../primitives.js';

/** Why a wallet reports a listing; the one list of the reasons. */
export const REPORT_REASONS = ['fraud', 'harmful', 'illegal', 'copied', 'broken', 'other'] as const;

export const reportReason = z.enum(REPORT_REASONS).meta({ id: 'ReportReason' });
export type ReportReason = z.infer<typeof reportReason>;

/** Longest text of a report, in characters. */
export const REPORT_CHARACTERS = 1_000;

/** New reports of one wallet, and of one address over all its wallets, in 24 hours. */
export const REPORTS_PER_DAY = { wallet: 10, address: 30 } as const;

/** Body of `POST /v1/listings/:id/reports`. */
export const createReportBody = z
  .strictObject({
    reason: reportReason,
    /** For the operator alone. */
    text: z.string().max(REPORT_CHARACTERS).default(''),
  })
  .meta({ id: 'CreateReport' });

/** An open report of the caller. */
export const report = z
  .object({ report_id: z.uuid(), listing_id: listingId, reason: reportReason, created_at: timestamp })
  .meta({ id: 'Report' });
export type Report = z.infer<typeof report>;
