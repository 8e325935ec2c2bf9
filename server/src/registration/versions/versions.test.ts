import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import {
  createListingRepository,
  createListingService,
  createPublicVersions,
  type ListingService,
} from '../../listings/index.js';
import { newWallet, loginOf } from '../../testing/index.js';
import { confirmed, keys, openRegistration } from '../registration.test-support.js';
import { openPrivatePart } from '../manifest/private-part.js';
import { endVersionSupport, VERSION_SUPPORT_DAYS } from './version-support.js';

const FIRST = {
  system_prompt: 'The first.',
  model_key: 'k',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
};
const BREAKING = {
  description: 'Reads other things.',
  system_prompt: 'The second.',
  input_schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
};

const fixture = await openRegistration();
afterAll(() => fixture.close());
const listings = createListingService(createListingRepository(fixture.database));

/** An agent on sale whose second version is another one than the first. */
async function twoVersions() {
  const { wallet, id } = await fixture.draft(FIRST);
  await fixture.land(id, 10n);
  const before = await listings.detail(id);
  await fixture.update('automatic', wallet, id, BREAKING);
  return { wallet, id, before };
}
const sealed = async (id: string): Promise<[string, Buffer]> => {
  const { version } = await listings.find(id);
  return [version.id, version.privatePart];
};
const promptOf = ({ version }: Awaited<ReturnType<ListingService['find']>>) => {
  const part = openPrivatePart(keys, version.id, version.privatePart);
  return part.mode === 'declarative' ? part.systemPrompt : undefined;
};

describe('a pinned version', () => {
  it('runs and shows its own manifest after a breaking update [REG-77]', async () => {
    const { id, before } = await twoVersions();
    expect(before.version).toBe(1);
    const [pinned, latest] = [await listings.find(id, 1), await listings.find(id)];
    expect([promptOf(pinned), promptOf(latest)]).toEqual(['The first.', 'The second.']);
    expect(pinned.version.inputSchema).toEqual(FIRST.input_schema);
    expect(promptOf(await listings.find(id, 2))).toBe('The second.');
    const { last_updated: _, ...shown } = before;
    const { last_updated: __, metadata_uri: ___, ...now } = await listings.detail(id, 1);
    const { metadata_uri: ____, ...then } = shown;
    expect(JSON.stringify(now)).toBe(JSON.stringify(then));
    expect(await listings.detail(id)).toMatchObject({ version: 2, input_schema: BREAKING.input_schema });
  });

  it('that is not there, or does not run any more, is refused and never replaced by another one [REG-77]', async () => {
    const { id, wallet } = await twoVersions();
    await expect(listings.find(id, 3)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(listings.detail(id, 3)).rejects.toMatchObject({ code: 'invalid_request' });
    const connected = { system_prompt: null, entrypoint_url: 'https://agent.example.com/run' };
    await fixture.update('automatic', wallet, id, connected);
    for (const number of [1, 2]) {
      await expect(listings.find(id, number)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining(`version ${number} does not run any more`) as string,
      });
    }
    // Its public part can still be read.
    expect(await listings.detail(id, 2)).toMatchObject({ version: 2, input_schema: BREAKING.input_schema });
  });

  it('is never one that was not approved', async () => {
    const { wallet, id } = await fixture.draft(FIRST);
    await fixture.service('operator').prepareToPublish(wallet, id, undefined);
    await fixture.update('operator', wallet, id, BREAKING);
    await fixture.land(id, 10n);
    expect(promptOf(await listings.find(id))).toBe('The first.');
    await expect(listings.find(id, 2)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('the notes of a version', () => {
  const versionsOf = createPublicVersions(fixture.database.db);

  it('are told to everyone beside its change, and are no part of the manifest [LST-47]', async () => {
    const { id, wallet } = await twoVersions();
    const notes = 'Reads web pages in place of text.';
    await fixture.update('automatic', wallet, id, { description: 'Reads pages.', version_notes: notes });
    expect(await versionsOf(id)).toMatchObject([
      { version: 3, change: { kind: 'compatible' }, notes },
      { version: 2, change: { kind: 'breaking' } },
      { version: 1, change: null },
    ]);
    expect((await versionsOf(id))[1]).not.toHaveProperty('notes');
    const part = openPrivatePart(keys, ...(await sealed(id)));
    expect(JSON.stringify(part)).not.toContain(notes);
  });

  it.each([
    [
      'without a change of the manifest',
      { listing: { title: 'Another' } },
      'It is faster.',
      /are of a new version/,
    ],
    [
      'with a key in them',
      { description: 'Reads pages.' },
      `Call it with ${['sk', 'proj', 'Ab3dEf6hIj9kLm2nOp5qRs8tUv'].join('-')}.`,
      /holds what looks like a key/,
    ],
  ])('%s are refused [LST-47]', async (_, fields, notes, message) => {
    const { id, wallet } = await twoVersions();
    const job = await fixture.update('automatic', wallet, id, { ...fields, version_notes: notes });
    expect(job.error?.details).toEqual([
      { path: 'version_notes', message: expect.stringMatching(message) as string },
    ]);
    expect(await versionsOf(id)).toHaveLength(2);
  });
});

describe('a version that was replaced', () => {
  const replacedDaysAgo = (id: string, days: number) =>
    fixture.database.db
      .updateTable('agent_versions')
      .set({ replaced_at: sql`now() - make_interval(days => ${days})` })
      .where('listing_id', '=', id)
      .where('number', '=', 1)
      .execute();
  const canRun = (id: string) =>
    listings.find(id, 1).then(
      () => true,
      () => false,
    );

  it(`can run for ${VERSION_SUPPORT_DAYS} days, and then while it is rented [REG-77]`, async () => {
    const { id } = await twoVersions();
    const { address } = await fixture.listing(id);
    const { db } = fixture.database;
    const rent = (purchased_at: Date) =>
      db
        .insertInto('credentials')
        .values({
          address: newWallet(),
          buyer: newWallet(),
          listing_address: address,
          rental_model: 'subscription',
          valid: true,
          purchased_at,
          expires_at: new Date(Date.now() + 3_600_000),
          slot: 1n,
        })
        .execute();
    const canRunAfter = async (days: number) => {
      await replacedDaysAgo(id, days);
      await endVersionSupport(db);
      return canRun(id);
    };
    await rent(new Date('2026-01-01T00:00:00Z'));
    expect(await canRunAfter(VERSION_SUPPORT_DAYS + 1)).toBe(true);
    const ended = { expires_at: new Date(Date.now() - 1_000) };
    await db.updateTable('credentials').set(ended).where('listing_address', '=', address).execute();
    expect(await canRunAfter(VERSION_SUPPORT_DAYS - 1)).toBe(true);
    // A rental made since then is of the version after.
    await rent(new Date());
    expect(await canRunAfter(VERSION_SUPPORT_DAYS + 1)).toBe(false);
    expect(promptOf(await listings.find(id))).toBe('The second.');
  });
});

describe('a rollback', () => {
  it('makes an earlier manifest the next version, in one call [REG-77]', async () => {
    const { id, wallet } = await twoVersions();
    const service = fixture.service('automatic');
    const accepted = await service.rollback(loginOf(wallet), id, 1, confirmed);
    expect(accepted.change).toMatchObject({ kind: 'compatible' });
    await service.validate(accepted.job_id);
    expect(await listings.detail(id)).toMatchObject({
      version: 3,
      description: 'Reads invoices.',
      input_schema: FIRST.input_schema,
    });
    expect(promptOf(await listings.find(id))).toBe('The first.');
    expect(promptOf(await listings.find(id, 2))).toBe('The second.');
  });

  it('is refused to a version that runs or is not there, and of another wallet’s agent; redirecting data wants a confirmation [REG-77]', async () => {
    const { id, wallet } = await twoVersions();
    const service = fixture.service('automatic');
    for (const [by, number, code] of [
      [wallet, 2, 'invalid_request'],
      [wallet, 9, 'invalid_request'],
      [newWallet(), 1, 'listing_not_found'],
    ] as const) {
      await expect(service.rollback(loginOf(by), id, number, confirmed)).rejects.toMatchObject({ code });
    }
    await fixture.update('automatic', wallet, id, { model: { provider: 'anthropic', model: 'm' } });
    const asked = new Error('Sign this.');
    await expect(service.rollback(loginOf(wallet), id, 1, () => Promise.reject(asked))).rejects.toBe(asked);
  });
});

it('an update says to its creator whether it is breaking [REG-77]', async () => {
  const { wallet, id } = await fixture.draft(FIRST);
  const service = fixture.service('automatic');
  const { change } = await service.update(loginOf(wallet), id, BREAKING, confirmed);
  expect(change).toMatchObject({ kind: 'breaking', reasons: [expect.stringContaining('url')] });
  const compatible = await service.update(loginOf(wallet), id, { description: 'Better.' }, confirmed);
  expect(compatible.change).toEqual({ kind: 'compatible', reasons: [] });
  const terms = await service.update(loginOf(wallet), id, { listing: { title: 'A' } }, confirmed);
  expect(terms).not.toHaveProperty('change');
});
