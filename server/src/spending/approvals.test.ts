import { createHash, randomUUID } from 'node:crypto';
import { approvalMessage, OPEN_APPROVALS_OF_KEY, type SpendingPolicy } from '@agent-rental/contract';
import bs58 from 'bs58';
import { sql } from 'kysely';
import nacl from 'tweetnacl';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { deriveKeys } from '../platform/keys.js';
import { firstKeyRing } from '../service-keys/index.js';
import { openDatabase } from '../database/connection.js';
import { ApiError } from '../errors/api-error.js';
import { ownerOf } from '../access/owner.js';
import type { Principal } from '../access/principal.js';
import { createApiKeys, createChallenges } from '../identity/index.js';
import { createSpending, type Allowance } from './allowance.js';
import { insertListing, loginOf, openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { createApprovalRepository, createSpendingApprovals, removeOldApprovals } from './index.js';

const SERVICE = 'market.example';
const ring = firstKeyRing(deriveKeys(Buffer.alloc(32, 7)));

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const digestOf = (call: string) => createHash('sha256').update(call).digest();

/** A wallet with an API key that asks above an amount, and its question. */
async function keyOwner(policy: SpendingPolicy = { ask_above_lamports: 100 }) {
  const { db } = database;
  const keypair = nacl.sign.keyPair();
  const wallet = bs58.encode(keypair.publicKey);
  const challenges = createChallenges(db, ring);
  const apiKeys = createApiKeys(db, 'devnet');
  const servedBy = (replica = db) =>
    createSpendingApprovals(createApprovalRepository(replica), challenges, () => `https://${SERVICE}`);
  const approvals = servedBy();
  const { id: listingId } = await insertListing(db);
  const newKey = async (label = 'my agent') => {
    const { id } = await apiKeys.create(wallet, { label, policy });
    const apiKey = { id, scopes: ['run', 'rent'] as const, policy };
    return { wallet, rateKey: `key:${id}`, apiKey } satisfies Principal;
  };
  const principal = await newKey();
  const allowance = createSpending(db, approvals).allowanceOf(principal);
  const run = (lamports: bigint, call = 'a call') => ({
    kind: 'run' as const,
    lamports,
    call: { listingId, digest: digestOf(call) },
  });
  const sign = (
    id: string,
    changes: Partial<Parameters<typeof approvalMessage>[0]> = {},
    signer = keypair,
  ) => {
    const { challenge } = challenges.issue(bs58.encode(signer.publicKey));
    const spending = {
      id,
      kind: 'run' as const,
      lamports: 200,
      listing_id: listingId,
      service: SERVICE,
      wallet,
    };
    const text = approvalMessage({ ...spending, ...changes }, challenge);
    const signature = bs58.encode(nacl.sign.detached(Buffer.from(text), signer.secretKey));
    return { answer: 'approve' as const, challenge, signature };
  };
  const approve = (id: string) => approvals.answer(loginOf(wallet), id, sign(id), SERVICE);
  const refuse = (id: string) => approvals.answer(loginOf(wallet), id, { answer: 'refuse' }, SERVICE);
  return {
    wallet,
    listingId,
    principal,
    allowance,
    approvals,
    servedBy,
    run,
    sign,
    approve,
    refuse,
    newKey,
    apiKeys,
  };
}

async function errorOf(attempt: Promise<unknown>): Promise<ApiError> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error(`No ApiError, but ${String(error)}.`);
  return error;
}

/** The id of the question that a call was refused with. */
async function askedBy(
  allowance: Allowance,
  spend: Parameters<Allowance['requireApproval']>[0],
): Promise<string> {
  const { approval } = await errorOf(allowance.requireApproval(spend));
  if (approval === undefined) throw new Error('It was refused without a question.');
  return approval.id;
}

const age = (id: string, minutes: number) =>
  database.db
    .updateTable('spending_approvals')
    .set({ expires_at: sql`expires_at - make_interval(mins => ${minutes})` })
    .where('id', '=', id)
    .execute();

describe('a key that asks above an amount', () => {
  it('spends up to it by itself, and is refused with the page of its question above it [ID-70]', async () => {
    const { allowance, run, approvals, wallet, listingId } = await keyOwner();
    await allowance.requireApproval(run(100n));
    await allowance.reserve({ ...run(100n), id: randomUUID() });
    const error = await errorOf(allowance.requireApproval(run(200n)));
    expect(error).toMatchObject({
      code: 'insufficient_balance',
      status: 403,
      policyRule: 'ask_above_lamports',
    });
    const { id = '', url } = error.approval ?? {};
    expect(url).toBe(`https://${SERVICE}/dashboard/approvals/${id}`);
    expect(await approvals.list(loginOf(wallet))).toMatchObject([
      { id, kind: 'run', lamports: 200, listing_id: listingId, api_key_label: 'my agent', state: 'open' },
    ]);
    // The same call asks the same, not anew, and is not let pass before the answer.
    expect(await askedBy(allowance, run(200n))).toBe(id);
    expect((await errorOf(allowance.reserve({ ...run(200n), id: randomUUID() }))).approval?.id).toBe(id);
  });

  it('makes an approved call once, and asks again for the same call after it [ID-70]', async () => {
    const { allowance, run, approve, approvals, principal } = await keyOwner();
    const id = await askedBy(allowance, run(200n));
    expect(await approve(id)).toMatchObject({ state: 'approved' });
    await allowance.requireApproval(run(200n));
    const runId = randomUUID();
    await allowance.reserve({ ...run(200n), id: runId });
    // The same run is the same spend.
    await allowance.reserve({ ...run(200n), id: runId });
    expect(await approvals.read(ownerOf(principal), id)).toMatchObject({ state: 'used' });
    expect(await askedBy(allowance, run(200n))).not.toBe(id);
    const other = await errorOf(allowance.reserve({ ...run(200n), id: randomUUID() }));
    expect(other.policyRule).toBe('ask_above_lamports');
  });

  it('has the approval back when its spend did not happen [ID-70]', async () => {
    const { allowance, run, approve } = await keyOwner();
    await approve(await askedBy(allowance, run(200n)));
    const runId = randomUUID();
    await allowance.reserve({ ...run(200n), id: runId });
    await allowance.releaseReservation(runId);
    await allowance.reserve({ ...run(200n), id: randomUUID() });
  });

  it('uses one approval once however many ask at the same time on two replicas [ID-70]', async () => {
    const { allowance, run, approve, principal, servedBy } = await keyOwner({
      ask_above_lamports: 100,
      max_day_lamports: 1_000_000,
    });
    const replica = openDatabase(database.url, () => undefined);
    onTestFinished(() => replica.close());
    const other = createSpending(replica.db, servedBy(replica.db)).allowanceOf(principal);
    await approve(await askedBy(allowance, run(200n)));
    const ends = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? allowance : other).reserve({ ...run(200n), id: randomUUID() }),
      ),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it.each([
    ['another call', { call: 'another' }],
    ['a higher amount', { lamports: 201n }],
    ['another kind', { kind: 'rental' as const }],
    ['another listing', { listing: 'other-aaaaaa' }],
  ])('does not use an approval for %s [ID-70]', async (_, changes) => {
    const { allowance, run, approve } = await keyOwner();
    const id = await askedBy(allowance, run(200n));
    await approve(id);
    const {
      call = 'a call',
      lamports = 200n,
      kind = 'run' as const,
      listing,
    } = changes as {
      call?: string;
      lamports?: bigint;
      kind?: 'run' | 'rental';
      listing?: string;
    };
    const spend = { ...run(lamports, call), kind };
    if (listing) spend.call.listingId = listing;
    expect((await errorOf(allowance.reserve({ ...spend, id: randomUUID() }))).approval?.id).not.toBe(id);
    await allowance.reserve({ ...run(150n), id: randomUUID() });
  });

  it('of the same wallet does not use the approval of another [ID-70]', async () => {
    const { allowance, run, approve, approvals, newKey } = await keyOwner();
    await approve(await askedBy(allowance, run(200n)));
    const other = createSpending(database.db, approvals).allowanceOf(await newKey('another'));
    expect((await errorOf(other.reserve({ ...run(200n), id: randomUUID() }))).approval).toBeDefined();
  });

  it('stays refused after a no, and is asked about again once the answer has expired [ID-73]', async () => {
    const { allowance, run, refuse, approve } = await keyOwner();
    const id = await askedBy(allowance, run(200n));
    expect(await refuse(id)).toMatchObject({ state: 'refused' });
    const error = await errorOf(allowance.requireApproval(run(200n)));
    expect([error.policyRule, error.approval, error.message]).toEqual([
      'ask_above_lamports',
      undefined,
      expect.stringContaining('has refused this'),
    ]);
    // Answered once.
    expect((await errorOf(approve(id))).code).toBe('invalid_request');
    await age(id, 11);
    expect(await askedBy(allowance, run(200n))).not.toBe(id);
  });

  it('may use an approval for 10 minutes, and its owner may answer for an hour [ID-73]', async () => {
    const { allowance, run, approve, approvals, principal } = await keyOwner();
    const late = await askedBy(allowance, run(200n, 'late'));
    await age(late, 59);
    await approve(late);
    await age(late, 9);
    await allowance.requireApproval(run(200n, 'late'));
    await age(late, 1);
    expect(await approvals.read(ownerOf(principal), late)).toMatchObject({ state: 'expired' });
    expect(await askedBy(allowance, run(200n, 'late'))).not.toBe(late);
    const unanswered = await askedBy(allowance, run(200n, 'unanswered'));
    await age(unanswered, 60);
    expect((await errorOf(approve(unanswered))).message).toContain('it is expired');
    await age(unanswered, 24 * 60);
    await removeOldApprovals(database.db);
    expect((await errorOf(approvals.read(ownerOf(principal), unanswered))).code).toBe('not_found');
  });

  it('has at most 10 open questions, so that it cannot flood a person [ID-70]', async () => {
    const { allowance, run, refuse, approvals, wallet, newKey } = await keyOwner();
    const attempts = await Promise.all(
      Array.from({ length: OPEN_APPROVALS_OF_KEY * 3 }, (_, index) =>
        errorOf(allowance.requireApproval(run(200n, `call ${index}`))),
      ),
    );
    expect(attempts.filter(({ approval }) => approval !== undefined)).toHaveLength(OPEN_APPROVALS_OF_KEY);
    const asked = await approvals.list(loginOf(wallet));
    expect(asked).toHaveLength(OPEN_APPROVALS_OF_KEY);
    const refused = attempts.find(({ approval }) => approval === undefined);
    expect(refused).toMatchObject({ code: 'insufficient_balance', policyRule: 'ask_above_lamports' });
    expect(refused?.message).toContain(`https://${SERVICE}/dashboard/approvals.`);
    await refuse(asked[0]?.id ?? '');
    await askedBy(allowance, run(200n, 'after an answer'));
    const other = createSpending(database.db, approvals).allowanceOf(await newKey());
    await askedBy(other, run(200n));
  });

  it('asks nothing about a call that its policy refuses anyway', async () => {
    const { allowance, run, approvals, wallet } = await keyOwner({
      ask_above_lamports: 100,
      max_run_lamports: 150,
      max_day_lamports: 140,
    });
    expect((await errorOf(allowance.requireApproval(run(200n)))).policyRule).toBe('max_run_lamports');
    expect((await errorOf(allowance.requireApproval(run(145n)))).policyRule).toBe('max_day_lamports');
    expect(await approvals.list(loginOf(wallet))).toEqual([]);
  });

  it('asks no more once it is revoked', async () => {
    const { allowance, run, approvals, wallet, apiKeys, principal } = await keyOwner();
    await askedBy(allowance, run(200n));
    await apiKeys.revoke(wallet, principal.apiKey.id);
    expect(await approvals.list(loginOf(wallet))).toEqual([]);
  });
});

describe('a question', () => {
  it('is approved by the signature of its wallet over exactly it alone [ID-73]', async () => {
    const { allowance, run, sign, approvals, wallet } = await keyOwner();
    const id = await askedBy(allowance, run(200n));
    const answer = (body: ReturnType<typeof sign>) => approvals.answer(loginOf(wallet), id, body, SERVICE);
    for (const body of [
      sign(id, { lamports: 100 }),
      sign(id, { kind: 'rental' }),
      sign(id, { listing_id: 'other-aaaaaa' }),
      sign(id, { service: 'elsewhere.example' }),
      sign(randomUUID()),
      sign(id, {}, nacl.sign.keyPair()),
    ]) {
      expect((await errorOf(answer(body))).code).toBe('invalid_signature');
    }
    const once = sign(id);
    await answer(once);
    const again = await askedBy(allowance, run(200n, 'another call'));
    expect((await errorOf(approvals.answer(loginOf(wallet), again, once, SERVICE))).code).toBe(
      'invalid_signature',
    );
  });

  it('is shown to its wallet and to the key that asks, and answered by its wallet alone [ID-73]', async () => {
    const owner = await keyOwner();
    const stranger = await keyOwner();
    const id = await askedBy(owner.allowance, owner.run(200n));
    const { approvals } = owner;
    expect((await approvals.read(loginOf(owner.wallet), id)).id).toBe(id);
    expect((await approvals.read(ownerOf(owner.principal), id)).id).toBe(id);
    expect(await approvals.list(loginOf(stranger.wallet))).toEqual([]);
    const otherKey = await owner.newKey();
    for (const attempt of [
      () => approvals.read(loginOf(stranger.wallet), id),
      () => approvals.read(ownerOf(otherKey), id),
      () => approvals.read(loginOf(owner.wallet), 'no uuid'),
      () => approvals.answer(loginOf(stranger.wallet), id, stranger.sign(id), SERVICE),
      () => approvals.answer(loginOf(stranger.wallet), id, { answer: 'refuse' }, SERVICE),
    ]) {
      expect((await errorOf(attempt())).code).toBe('not_found');
    }
  });

  it('tells a caller that waits as soon as it is answered [ID-73]', async () => {
    const { allowance, run, approve, approvals, principal } = await keyOwner();
    const id = await askedBy(allowance, run(200n));
    const gone = new AbortController();
    const waiting = approvals.read(ownerOf(principal), id, { waitMs: 60_000, gone: gone.signal });
    await approve(id);
    expect(await waiting).toMatchObject({ state: 'approved' });
  });
});
