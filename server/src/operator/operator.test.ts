import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createListingRepository, createListingService } from '../listings/index.js';
import { insertListing, openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { listActions } from '../moderation/index.js';
import { deriveKeys } from '../platform/keys.js';
import { OperatorError, parseCommand, runCommand, USAGE } from './index.js';
import { parseReviewCommand, runReviewCommand } from './review/index.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** Lists of reviews need neither keys nor settings. */
const UNREAD = {
  readKeys: () => Promise.reject(new Error('not read')),
  openRuns: () => Promise.reject(new Error('not opened')),
};

/** The printed text of a command line. */
async function operate(...argv: string[]): Promise<string> {
  const review = parseReviewCommand(argv);
  if (review) return runReviewCommand({ db: database.db, ...UNREAD }, review);
  const command = parseCommand(argv);
  return command.name === 'help'
    ? USAGE
    : runCommand(database.db, command, () => ({ keys: deriveKeys(new Uint8Array(32)), others: [] }));
}

const draft = (fields: Parameters<typeof insertListing>[1] = {}) =>
  insertListing(database.db, { status: 'draft', review_state: 'pending', published_at: null, ...fields });

const reviewOf = (id: string) =>
  database.db
    .selectFrom('listings')
    .select(['review_state', 'review_reason'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe('a review', () => {
  it('is listed while it waits, longest waiting first, with the text of its creator', async () => {
    // A listing on sale waits for no approval.
    await insertListing(database.db, { review_state: 'pending' });
    expect(await operate('reviews')).toBe('No registration waits for a review.');
    const second = await draft({
      created_at: new Date('2026-01-02'),
      rental_model: null,
      price_lamports: null,
    });
    const first = await draft({ created_at: new Date('2026-01-01'), title: 'Evil\u001b[2J\ntitle\u202e' });
    const printed = await operate('reviews');
    expect(printed.indexOf(first.id)).toBeGreaterThanOrEqual(0);
    expect(printed.indexOf(first.id)).toBeLessThan(printed.indexOf(second.id));
    expect(printed).toContain('per_query, 1000000 lamports');
    expect(printed).toContain('terms not named yet');
    expect(printed).toContain('Evil [2J title');
    expect(printed).not.toContain('\u001b');
    expect(printed).not.toContain('\u202e');
    await operate('approve', first.id);
    expect(await operate('reviews')).not.toContain(first.id);
  });

  it('is approved, or rejected with a reason, and may be decided again [REG-5]', async () => {
    const { id } = await draft();
    await operate('reject', id, '--reason', 'It promises profits.');
    expect(await reviewOf(id)).toEqual({ review_state: 'rejected', review_reason: 'It promises profits.' });
    await operate('approve', id);
    expect(await reviewOf(id)).toEqual({ review_state: 'approved', review_reason: null });
  });

  it('is of the version that was looked at: of a changed draft it has to be named [REG-13]', async () => {
    const { id } = await draft();
    expect(await operate('reviews')).toMatch(new RegExp(`${id} [^]*version +1`));
    const version = { input_schema: '{}', output_schema: '{}', timeout_seconds: 60, metadata_uri: null };
    const second = randomUUID();
    await database.db
      .insertInto('agent_versions')
      .values({ ...version, id: second, listing_id: id, private_part: Buffer.alloc(0) })
      .execute();
    await database.db.updateTable('listings').set({ version_id: second }).where('id', '=', id).execute();
    for (const argv of [[], ['--version', '1'], ['--version', '3']]) {
      await expect(operate('approve', id, ...argv)).rejects.toThrow(`approve ${id} --version 2`);
    }
    expect(await reviewOf(id)).toMatchObject({ review_state: 'pending' });
    expect(await operate('approve', id, '--version', '2')).toContain('is approved');
    expect(await operate('reviews')).not.toContain(id);
    const { approved_version_id: approved } = await database.db
      .selectFrom('listings')
      .select('approved_version_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(approved).toBe(second);
  });

  it('of a listing that is published, or unknown, is refused', async () => {
    const { id } = await insertListing(database.db);
    for (const unknown of [id, 'absent-aaaaaa', '']) {
      await expect(operate('approve', unknown)).rejects.toThrow(OperatorError);
      await expect(operate('reject', unknown, '--reason', 'x')).rejects.toThrow(/no unpublished listing/);
    }
    expect(await reviewOf(id)).toMatchObject({ review_state: 'approved' });
  });
});

describe('a limit', () => {
  it("wins over the creator's own until it is cleared", async () => {
    const { id } = await insertListing(database.db, { runs_per_minute: 30 });
    const listings = createListingService(createListingRepository(database));
    const limitOf = async () => (await listings.find(id)).runsPerMinute;
    expect(await limitOf()).toBe(30);
    expect(await operate('limit', id, '500')).toContain('500');
    expect(await limitOf()).toBe(500);
    expect(await operate('limits')).toMatch(new RegExp(`${id} +500 .*own: 30`));
    await operate('limit', id, '--clear');
    expect(await limitOf()).toBe(30);
    expect(await operate('limits')).not.toContain(id);
  });

  it('of an unknown listing is refused', async () => {
    await expect(operate('limit', 'absent-aaaaaa', '5')).rejects.toThrow(/no listing "absent-aaaaaa"/);
  });
});

describe('a decision on the database', () => {
  it('is on record with its author, its reason and its values [OPS-115]', async () => {
    const { id } = await draft();
    await operate('reject', id, '--reason', 'It promises profits.');
    await operate('approve', id);
    await operate('limit', id, '7');
    const actions = (await listActions(database.db, 100)).filter(({ subject }) => subject === id);
    expect(actions.map(({ action, reason, details }) => [action, reason, details])).toEqual([
      ['limit', null, { runs_per_minute: 7 }],
      ['approve', null, { version: 1 }],
      ['reject', 'It promises profits.', { version: 1 }],
    ]);
    expect(actions.every(({ operator }) => operator === userInfo().username)).toBe(true);
    await expect(operate('approve', 'absent-aaaaaa')).rejects.toThrow();
    await expect(operate('limit', 'absent-aaaaaa', '5')).rejects.toThrow();
    expect(await listActions(database.db, 1)).toMatchObject([{ subject: id }]);
  });
});

describe('a command line', () => {
  it.each([[[]], [['help']], [['--help']], [['reviews', '--help']], [['-h']]])(
    '%j shows all commands',
    async (argv) => {
      expect(await operate(...argv)).toBe(USAGE);
    },
  );

  it.each([
    [['unknown'], /no command unknown/],
    [['approve'], /approve <listing_id>/],
    [['approve', 'a', 'b'], /approve <listing_id>/],
    [['reject', 'a'], /--reason/],
    [['reject', 'a', '--reason', '  '], /--reason/],
    [['reject', 'a', '--reason', 'x'.repeat(1001)], /1001 characters/],
    [['reject', 'a', '--reason', 'a\u0000b'], /control character/],
    [['approve', 'a', '--reason', 'x'], /no --reason/],
    [['approve', 'a', '--version', '0'], /0 is no version/],
    [['approve', 'a', '--version', '1e3'], /1e3 is no version/],
    [['reject', 'a', '--reason', 'x', '--version', '1'], /no --version/],
    [['limit', 'a'], /<runs_per_minute>/],
    [['limit', 'a', '5', '--clear'], /<listing_id>/],
    [['limit', 'a', '0'], /1 to 100000/],
    [['limit', 'a', '100001'], /1 to 100000/],
    [['limit', 'a', '1.5'], /1.5 is no limit/],
    [['limit', 'a', '1e3'], /1e3 is no limit/],
    [['limit', 'a', 'many'], /many is no limit/],
    [['limits', '--force'], /--force/],
  ])('%j is refused, saying why', (argv, message) => {
    expect(() => parseCommand(argv)).toThrow(OperatorError);
    expect(() => parseCommand(argv)).toThrow(message);
  });
});
