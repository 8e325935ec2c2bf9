import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createReports } from '../../moderation/index.js';
import { insertListing, newWallet, openTestDatabase, type TemporaryDatabase } from '../../testing/index.js';
import { OperatorError } from '../operator-error.js';
import { parseModerationCommand, runModerationCommand } from './index.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** The printed text of a command that needs no chain. */
async function operate(...argv: string[]): Promise<string> {
  const command = parseModerationCommand(argv);
  if (!command) throw new Error(`${argv[0]} is not known.`);
  if ('help' in command) return command.help;
  const chain = () => Promise.reject(new Error('It needs no chain.'));
  return runModerationCommand({ db: database.db, chain }, command);
}

describe('a ban', () => {
  it('names the listings that are still on sale, and a dry run changes nothing [OPS-115]', async () => {
    const creator = newWallet();
    expect(await operate('ban', creator, '--reason', 'Scams.', '--dry-run')).toBe(
      'It has no listing on sale.',
    );
    await expect(operate('unban', creator, '--reason', 'x')).rejects.toThrow('is not banned');
    const { id } = await insertListing(database.db, { creator, status: 'paused' });
    const closed = await insertListing(database.db, { creator, status: 'closed' });
    const printed = await operate('ban', creator, '--reason', 'Scams.');
    expect(printed).toContain(`take-down ${id} `);
    expect(printed).not.toContain(closed.id);
    expect(await operate('log', '--limit', '1')).toMatch(new RegExp(`ban +${creator} .*reason: Scams`));
    expect(JSON.parse(await operate('log', '--json'))).toMatchObject({
      actions: [{ action: 'ban', subject: creator, reason: 'Scams.', signature: null }],
    });
  });
});

describe('a take-down', () => {
  it('of a listing that is not published is refused, before the chain is asked', async () => {
    const { id } = await insertListing(database.db, { status: 'draft', published_at: null });
    for (const unknown of [id, 'absent-aaaaaa'])
      await expect(operate('take-down', unknown, '--reason', 'x', '--dry-run')).rejects.toThrow(
        /no published listing/,
      );
  });
});

describe('the queue of reports', () => {
  it('has the most reported listing first, and strangers’ words on one line [OPS-113]', async () => {
    const reports = createReports(database.db, { find: async (id) => ({ id }) });
    const [one, two] = [await insertListing(database.db), await insertListing(database.db)];
    const report = (id: string, text: string) =>
      reports.report(id, { wallet: newWallet() }, { reason: 'harmful', text });
    await report(one.id, 'Once.');
    await report(two.id, 'Evil\nlines');
    await report(two.id, 'Twice.');
    const printed = await operate('reports');
    expect(printed.indexOf(two.id)).toBeLessThan(printed.indexOf(one.id));
    expect(printed).toContain('harmful: Evil lines');
    await operate('resolve-reports', two.id, '--note', 'Seen.');
    await report(two.id, 'Again.');
    expect(await operate('reports')).toContain(`${two.id}  1 open (1 harmful), 2 closed before`);
    await expect(operate('resolve-reports', 'absent-aaaaaa', '--note', 'x')).rejects.toThrow(OperatorError);
  });
});

describe('a command line', () => {
  it.each([
    [['take-down', 'a', '--reason', 'x'], /--keypair FILE.*--dry-run/],
    [['take-down', '--reason', 'x', '--dry-run'], /Wrong number/],
    [['take-down', 'a', '--dry-run'], /Creator and renters have to know why/],
    [['restore', 'a', '--note', 'x', '--dry-run'], /no --note/],
    [['ban', 'no-wallet', '--reason', 'x'], /is not an address/],
    [['ban', 'x', 'y', '--reason', 'x'], /Wrong number/],
    [['unban', newWallet(), '--reason', 'x', '--keypair', 'f'], /no --keypair/],
    [['resolve-reports', 'a'], /--note/],
    [['log', '--limit', '0'], /1 to 10000/],
    [['reports', '--force'], /--help shows every option/],
  ])('%j is refused, saying why', (argv, message) => {
    expect(() => parseModerationCommand(argv)).toThrow(OperatorError);
    expect(() => parseModerationCommand(argv)).toThrow(message);
  });

  it('has a help for each command', async () => {
    expect(parseModerationCommand(['pause'])).toBeUndefined();
    for (const name of ['take-down', 'ban', 'log'])
      expect(await operate(name, '--help')).toContain(`npm run operator -- ${name}`);
  });
});
