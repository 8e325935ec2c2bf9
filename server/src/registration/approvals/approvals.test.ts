import { afterAll, describe, expect, it } from 'vitest';
import { createApprovals } from './approvals.js';
import { openRegistration } from '../registration.test-support.js';

const SEEN = 'The prompt that was looked at.';
const UNSEEN = { system_prompt: 'Another prompt.', description: 'Sells something else.' };

const fixture = await openRegistration();
afterAll(() => fixture.close());
const reviews = createApprovals(fixture.database.db);

/** A draft that waits for the operator, with the one version that it has. */
const draft = () => fixture.draft({ system_prompt: SEEN }, 'operator');
const approve = (id: string, version?: number) =>
  reviews.decide(id, { approved: true, version }, { operator: 'tester' });
const publish = (wallet: string, id: string) =>
  fixture.service('operator').prepareToPublish(wallet, id, undefined);

describe('an approval', () => {
  it('is worth nothing once the draft is changed: the new version waits for its own [REG-13]', async () => {
    const { wallet, id } = await draft();
    expect(await approve(id)).toEqual({ outcome: 'decided' });
    const job = await fixture.update('operator', wallet, id, UNSEEN);
    expect(job.review).toEqual({ state: 'pending', reasons: [] });
    expect(job.next_action).toBeUndefined();
    await expect(publish(wallet, id)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('before the last change') as string,
    });
    const waiting = (await reviews.pending()).find((row) => row.id === id);
    expect(waiting).toMatchObject({ version: 2, description: UNSEEN.description });
    expect(await approve(id, 2)).toEqual({ outcome: 'decided' });
    expect(await publish(wallet, id)).toMatchObject({ id });
    await fixture.land(id, 5n);
    expect(await fixture.running(id)).toMatchObject({ systemPrompt: UNSEEN.system_prompt });
  });

  it('is for the version that was looked at, not for one that came meanwhile [REG-13]', async () => {
    const { wallet, id } = await draft();
    await fixture.update('operator', wallet, id, UNSEEN);
    expect(await approve(id)).toEqual({ outcome: 'changed', version: 2 });
    expect(await approve(id, 1)).toEqual({ outcome: 'changed', version: 2 });
    expect(await approve(id, 3)).toEqual({ outcome: 'changed', version: 2 });
    await expect(publish(wallet, id)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await fixture.listing(id)).toMatchObject({ review_state: 'pending', approved_version_id: null });
  });

  it('holds for the running version when a change comes between co-signature and landing [REG-13]', async () => {
    const { wallet, id } = await draft();
    await approve(id);
    const { metadataUri } = await publish(wallet, id);
    const approved = (await fixture.listing(id)).version_id;
    await fixture.update('operator', wallet, id, UNSEEN);
    expect((await fixture.listing(id)).version_id).not.toBe(approved);
    await fixture.land(id, 5n);
    expect(await fixture.running(id)).toMatchObject({ systemPrompt: SEEN });
    expect(await fixture.listing(id)).toMatchObject({
      status: 'active',
      version_id: approved,
      description: 'Reads invoices.',
      review_reason: expect.stringContaining('Send that change again') as string,
    });
    const versions = fixture.database.db.selectFrom('agent_versions').select('metadata_uri');
    const running = await versions.where('id', '=', approved).executeTakeFirstOrThrow();
    expect(running.metadata_uri).toBe(metadataUri);
    // Sent again, the change needs no more than the checks.
    const job = await fixture.update('operator', wallet, id, UNSEEN);
    expect(job.review).toEqual({ state: 'approved', reasons: [] });
    expect(await fixture.running(id)).toMatchObject({ systemPrompt: UNSEEN.system_prompt });
  });

  it('is never of an unseen version, however a change and a publication interleave [REG-13]', async () => {
    const drafts = await Promise.all(Array.from({ length: 10 }, draft));
    await Promise.all(
      drafts.map(async ({ wallet, id }, index) => {
        await approve(id);
        const approved = (await fixture.listing(id)).version_id;
        const change = fixture.update('operator', wallet, id, UNSEEN);
        // The change is under way when the transaction is co-signed, or the other way round.
        if (index % 2 === 0) await change;
        const published = await publish(wallet, id).catch(() => undefined);
        await change;
        if (published) await fixture.land(id, 5n);
        const { status, version_id: runs } = await fixture.listing(id);
        expect(status === 'draft' || runs === approved).toBe(true);
      }),
    );
  });

  it('that came before a rejection does not let the draft be published', async () => {
    const { wallet, id } = await draft();
    await approve(id);
    await reviews.decide(id, { approved: false, reason: 'No.' }, { operator: 'tester' });
    await expect(publish(wallet, id)).rejects.toMatchObject({
      message: expect.stringContaining('rejected it. No.') as string,
    });
  });

  it('of an earlier release, of a draft that was changed since, waits for another one [REG-13]', async () => {
    const { wallet, id } = await draft();
    const { db } = fixture.database;
    // As the migration leaves it: which of the versions was approved is not known.
    const approvedBefore = { review_state: 'approved', approved_version_id: null } as const;
    await db.updateTable('listings').set(approvedBefore).where('id', '=', id).execute();
    await expect(publish(wallet, id)).rejects.toMatchObject({ code: 'invalid_request' });
    expect((await reviews.pending()).map((row) => row.id)).toContain(id);
    // Where every version that passes the checks is approved, there is nothing to wait for.
    expect(await fixture.service('automatic').prepareToPublish(wallet, id, undefined)).toMatchObject({ id });
  });
});

it('where the review is automatic, a changed draft is published with its change [REG-13]', async () => {
  const { wallet, id } = await fixture.draft();
  await fixture.service('automatic').prepareToPublish(wallet, id, undefined);
  const job = await fixture.update('automatic', wallet, id, UNSEEN);
  expect(job.review?.state).toBe('approved');
  await fixture.land(id, 5n);
  expect(await fixture.running(id)).toMatchObject({ systemPrompt: UNSEEN.system_prompt });
});
