import { PublicKey } from '@solana/web3.js';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newWallet, loginOf } from '../../testing/index.js';
import { createDraftRemoval } from './draft-removal.js';
import { confirmed, openRegistration } from '../registration.test-support.js';

const DAY_MS = 86_400_000;

/** Addresses that have an account. */
let onChain: Set<string>;
const fixture = await openRegistration();
afterAll(() => fixture.close());
const account = { executable: false, owner: PublicKey.default, lamports: 1, data: Buffer.alloc(0) };
const removal = createDraftRemoval({
  db: fixture.database.db,
  repository: fixture.repository,
  store: fixture.store,
  chain: {
    getAccounts: async (addresses) => ({
      slot: 1n,
      accounts: addresses.map((address) => (onChain.has(address.toBase58()) ? account : null)),
    }),
  },
});
beforeEach(() => {
  onChain = new Set();
});

const draft = () => fixture.draft();
const isThere = async (id: string) => (await fixture.repository.findDraft(id)) !== undefined;
const proposedAt = (id: string, time: Date | null) =>
  fixture.database.db
    .updateTable('listings')
    .set({ publication_proposed_at: time })
    .where('id', '=', id)
    .execute();

describe('a draft', () => {
  it('is deleted by its creator, with its versions, jobs and documents [REG-41]', async () => {
    const { wallet, id } = await draft();
    await fixture.update('automatic', wallet, id, { description: 'x' });
    const before = fixture.documents().length;
    await removal.remove(wallet, id);
    expect(await isThere(id)).toBe(false);
    expect(fixture.documents()).toHaveLength(before - 2);
    for (const table of ['agent_versions', 'registration_jobs'] as const) {
      const rows = fixture.database.db.selectFrom(table).select('id').where('listing_id', '=', id);
      expect(await rows.execute()).toEqual([]);
    }
    await expect(removal.remove(wallet, id)).rejects.toMatchObject({ code: 'listing_not_found' });
  });

  it('of another wallet is not found, and stays [REG-41]', async () => {
    const { id } = await draft();
    await expect(removal.remove(newWallet(), id)).rejects.toMatchObject({ code: 'listing_not_found' });
    expect(await isThere(id)).toBe(true);
  });

  it('that may be published any moment is not deleted [REG-41]', async () => {
    const { wallet, id } = await draft();
    await fixture.service('automatic').prepareToPublish(wallet, id, undefined);
    await expect(removal.remove(wallet, id)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('10 minutes') as string,
    });
    await proposedAt(id, new Date(Date.now() - 11 * 60_000));
    await removal.remove(wallet, id);
    expect(await isThere(id)).toBe(false);
  });

  it('that is on-chain, though the index has not seen it, is not deleted [REG-41]', async () => {
    const { wallet, id } = await draft();
    onChain.add((await fixture.listing(id)).address);
    await expect(removal.remove(wallet, id)).rejects.toMatchObject({ code: 'invalid_request' });
    const published = await draft();
    await fixture.land(published.id, 5n);
    await expect(removal.remove(published.wallet, published.id)).rejects.toMatchObject({
      message: expect.stringContaining('"action": "close"') as string,
    });
    expect([await isThere(id), await isThere(published.id)]).toEqual([true, true]);
  });

  it('is gone for a change that waits for its job', async () => {
    const { wallet, id } = await draft();
    const service = fixture.service('automatic');
    const { job_id: jobId } = await service.update(loginOf(wallet), id, { description: 'x' }, confirmed);
    await removal.remove(wallet, id);
    await service.validate(jobId);
    expect(await service.getJob(jobId, loginOf(wallet))).toMatchObject({
      status: 'failed',
      error: { details: [{ path: '', message: 'the agent was deleted' }] },
    });
  });
});

it('drafts that are neither changed nor published for 30 days are removed, and no others [REG-41]', async () => {
  const old = new Date(Date.now() - 31 * DAY_MS);
  const made = await Promise.all([draft(), draft(), draft(), draft(), draft()]);
  const [lapsed = '', , published = '', proposed = '', landed = ''] = made.map(({ id }) => id);
  await fixture.land(published, 5n);
  await fixture.database.db
    .updateTable('listings')
    .set({ updated_at: old })
    .where('id', 'in', [lapsed, published, proposed, landed])
    .execute();
  await proposedAt(proposed, new Date());
  onChain.add((await fixture.listing(landed)).address);
  await removal.removeLapsed();
  expect(await Promise.all(made.map(({ id }) => isThere(id)))).toEqual([false, true, true, true, true]);
});
