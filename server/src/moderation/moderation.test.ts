import { REPORTS_PER_DAY } from '@agent-rental/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { insertListing, newWallet, openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import {
  createReports,
  isBanned,
  lastAction,
  listActions,
  recordAction,
  removeReportAddresses,
  reportedListings,
  requireNotBanned,
} from './index.js';

let database: TemporaryDatabase;
let reports: ReturnType<typeof createReports>;
beforeAll(async () => {
  database = await openTestDatabase();
  reports = createReports(database.db, { find: async (id) => ({ id }) });
});
afterAll(() => database.close());

const listed = async () => (await insertListing(database.db)).id;
const decide = (action: 'ban' | 'unban' | 'take-down', subject: string, reason?: string) =>
  recordAction(database.db, { action, subject, reason, operator: 'tester' });

describe('the decisions of operators', () => {
  it('stay on record: no row is changed or removed [OPS-115]', async () => {
    await decide('take-down', 'some-agent', 'Harm.');
    for (const change of [
      sql`update operator_actions set reason = 'None.'`,
      sql`delete from operator_actions`,
      sql`truncate operator_actions`,
    ])
      await expect(change.execute(database.db)).rejects.toThrow('only added');
    expect(await lastAction(database.db, 'some-agent', ['take-down'])).toMatchObject({ reason: 'Harm.' });
  });

  it('are listed newest first, with their values', async () => {
    const subject = newWallet();
    await recordAction(database.db, {
      action: 'limit',
      subject,
      operator: 'tester',
      signature: 'abc',
      details: { runs_per_minute: 5 },
    });
    const [newest] = await listActions(database.db, 1);
    expect(newest).toMatchObject({
      subject,
      signature: 'abc',
      details: { runs_per_minute: 5 },
      reason: null,
    });
  });

  it('ban a creator until the last one says otherwise [OPS-115]', async () => {
    const wallet = newWallet();
    expect(await isBanned(database.db, wallet)).toBe(false);
    await decide('ban', wallet, 'Scams.');
    await decide('take-down', wallet);
    await expect(requireNotBanned(database.db, wallet)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('Scams.') as string,
    });
    await decide('unban', wallet);
    await requireNotBanned(database.db, wallet);
  });
});

describe('a report', () => {
  const refused = { code: 'rate_limit_exceeded' };

  it('replaces the open one of its wallet and listing, also of many at once [OPS-113]', async () => {
    const [id, wallet] = [await listed(), newWallet()];
    const made = await Promise.all(
      ['a', 'b', 'c', 'd'].map((text) => reports.report(id, { wallet }, { reason: 'fraud', text })),
    );
    expect(new Set(made.map(({ report_id: reportId }) => reportId)).size).toBe(1);
    expect(await reportedListings(database.db)).toContainEqual(
      expect.objectContaining({ listing_id: id, open: 1, reasons: { fraud: 1 } }),
    );
  });

  it('is refused beyond the reports of a wallet in a day [OPS-113]', async () => {
    const wallet = newWallet();
    const ids = await Promise.all(Array.from({ length: REPORTS_PER_DAY.wallet + 1 }, listed));
    const [last = '', ...others] = ids;
    for (const id of others) await reports.report(id, { wallet }, { reason: 'other', text: '' });
    await expect(reports.report(last, { wallet }, { reason: 'other', text: '' })).rejects.toMatchObject(
      refused,
    );
    // A change of an open one is no further report.
    await reports.report(others[0] ?? '', { wallet }, { reason: 'fraud', text: 'More.' });
  });

  it('is refused beyond the reports of an address in a day, which is then forgotten [OPS-113]', async () => {
    const [id, address] = [await listed(), '192.0.2.7'];
    const report = () => reports.report(id, { wallet: newWallet(), address }, { reason: 'broken', text: '' });
    for (let made = 0; made < REPORTS_PER_DAY.address; made += 1) await report();
    await expect(report()).rejects.toBeInstanceOf(ApiError);
    const { db } = database;
    await db
      .updateTable('listing_reports')
      .set({ created_at: sql`now() - interval '25 hours'` })
      .where('address', '=', address)
      .execute();
    await report();
    await removeReportAddresses(db);
    const kept = await db.selectFrom('listing_reports').select('id').where('address', '=', address).execute();
    expect(kept).toHaveLength(1);
  });
});
