import { randomUUID } from 'node:crypto';
import {
  REPORTS_PER_DAY,
  type createReportBody,
  type Report,
  type ReportReason,
} from '@agent-rental/contract';
import { sql } from 'kysely';
import type { z } from 'zod';
import type { Db, Tx } from '../database/connection.js';
import { ApiError } from '../errors/api-error.js';
import { cleanText } from '../platform/clean-text.js';
import { recordAction, type Decider } from './operator-actions.js';

/** Who reports. */
interface Reporter {
  wallet: string;
  /** The address that sent the request, or its network. */
  address?: string | undefined;
}

/** Reports of wallets about listings. */
export interface Reports {
  /**
   * Stores a report, in place of the open one of that wallet and listing.
   *
   * @throws ApiError `invalid_listing_id`, `listing_not_found`, or `rate_limit_exceeded`.
   */
  report(listingId: string, by: Reporter, report: z.output<typeof createReportBody>): Promise<Report>;
}

/** How long an address is counted, and kept. */
const DAY = sql<Date>`now() - interval '24 hours'`;

/** @param listings finds published listings, and throws for others */
export function createReports(db: Db, listings: { find(id: string): Promise<{ id: string }> }): Reports {
  return {
    async report(givenId, { wallet, address }, { reason, text }) {
      const { id: listingId } = await listings.find(givenId);
      const said = { reason, text: cleanText(text) };
      const row = await db.transaction().execute(async (tx) => {
        // One after the other, so that no two of them see the same counts.
        for (const name of [
          `reports of wallet ${wallet}`,
          ...(address === undefined ? [] : [`reports of address ${address}`]),
        ])
          await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
        const replaced = await tx
          .updateTable('listing_reports')
          .set(said)
          .where('listing_id', '=', listingId)
          .where('wallet', '=', wallet)
          .where('closed_at', 'is', null)
          .returning(['id', 'created_at'])
          .executeTakeFirst();
        if (replaced) return replaced;
        await requireRoom(tx, 'wallet', wallet);
        if (address !== undefined) await requireRoom(tx, 'address', address);
        return tx
          .insertInto('listing_reports')
          .values({ id: randomUUID(), listing_id: listingId, wallet, address: address ?? null, ...said })
          .returning(['id', 'created_at'])
          .executeTakeFirstOrThrow();
      });
      return { report_id: row.id, listing_id: listingId, reason, created_at: row.created_at.toISOString() };
    },
  };
}

/** @throws ApiError where a wallet or an address has made as many reports as it may. */
async function requireRoom(tx: Tx, whose: keyof typeof REPORTS_PER_DAY, value: string): Promise<void> {
  const { count } = await tx
    .selectFrom('listing_reports')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where(whose, '=', value)
    .where('created_at', '>', DAY)
    .executeTakeFirstOrThrow();
  if (Number(count) < REPORTS_PER_DAY[whose]) return;
  throw new ApiError(
    'rate_limit_exceeded',
    `This ${whose} has made ${REPORTS_PER_DAY[whose]} reports within 24 hours.`,
    { next: 'Try again tomorrow.', retryAfterSeconds: 3_600 },
  );
}

/** Forgets the addresses that no limit counts any more. */
export async function removeReportAddresses(db: Db): Promise<void> {
  await db
    .updateTable('listing_reports')
    .set({ address: null })
    .where('address', 'is not', null)
    .where('created_at', '<=', DAY)
    .execute();
}

/** A listing with open reports. */
export interface ReportedListing {
  listing_id: string;
  title: string;
  creator: string;
  status: string;
  /** The number of open reports by reason. */
  reasons: Partial<Record<ReportReason, number>>;
  open: number;
  /** How many were closed before. */
  closed: number;
  oldest_at: Date;
  /** The newest open ones. */
  reports: { wallet: string; reason: ReportReason; text: string; created_at: Date }[];
}

/** Listings with open reports that a command shows, and the reports of each. */
const MOST_LISTINGS = 100;
const MOST_OF_LISTING = 20;

/** The queue of the operator: listings with open reports, the most reported first. */
export async function reportedListings(db: Db): Promise<ReportedListing[]> {
  const groups = await db
    .selectFrom('listing_reports')
    .innerJoin('listings', 'listings.id', 'listing_reports.listing_id')
    .where('closed_at', 'is', null)
    .groupBy('listings.id')
    .select((eb) => [
      'listings.id as listing_id',
      'listings.title',
      'listings.creator',
      'listings.status',
      eb.fn.countAll<bigint>().as('open'),
      eb.fn.min('listing_reports.created_at').as('oldest_at'),
    ])
    .orderBy('open', 'desc')
    .orderBy('oldest_at')
    .limit(MOST_LISTINGS)
    .execute();
  return Promise.all(
    groups.map(async ({ open, ...group }) => {
      const ofListing = db.selectFrom('listing_reports').where('listing_id', '=', group.listing_id);
      const counted = await ofListing
        .groupBy(['reason', (eb) => eb('closed_at', 'is', null)])
        .select((eb) => [
          'reason',
          eb('closed_at', 'is', null).as('is_open'),
          eb.fn.countAll<bigint>().as('count'),
        ])
        .execute();
      const reports = await ofListing
        .where('closed_at', 'is', null)
        .select(['wallet', 'reason', 'text', 'created_at'])
        .orderBy('created_at', 'desc')
        .limit(MOST_OF_LISTING)
        .execute();
      const reasons = Object.fromEntries(
        counted.filter(({ is_open: isOpen }) => isOpen).map(({ reason, count }) => [reason, Number(count)]),
      );
      const closed = counted
        .filter(({ is_open: isOpen }) => !isOpen)
        .reduce((sum, { count }) => sum + Number(count), 0);
      return { ...group, open: Number(open), closed, reasons, reports };
    }),
  );
}

/** Closes the open reports of a listing, and puts that on record. Gives their number; 0 changes nothing. */
export async function closeReports(
  db: Db,
  listingId: string,
  { note, ...by }: Decider & { note: string },
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('listing_reports')
      .set({ closed_at: sql`now()` })
      .where('listing_id', '=', listingId)
      .where('closed_at', 'is', null)
      .executeTakeFirst();
    const reports = Number(numUpdatedRows);
    if (reports > 0) {
      await recordAction(tx, {
        action: 'resolve-reports',
        subject: listingId,
        reason: note,
        ...by,
        details: { reports },
      });
    }
    return reports;
  });
}
