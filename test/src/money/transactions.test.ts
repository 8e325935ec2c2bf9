import { createClient, isApiError } from '@agent-rental/sdk';
import * as api from '@agent-rental/sdk/solana';
import {
  ComputeBudgetProgram,
  Connection,
  Keypair,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { publishIdleListing, type Terms } from '../support/agents/agents.js';
import { call, errorOf } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const PRICE = 1_000_000;
const DAYS_30 = 2_592_000;
const DAYS_90 = 7_776_000;
const SIGNATURE_FEE = 5_000;

let stateDir: string;
let marketplace: OwnMarketplace;
let connection: Connection;

/** The actions of a wallet, through the API or directly on the chain. */
type Verbs = Pick<
  api.MarketplaceWallet,
  'renew' | 'reclaim' | 'update' | 'pause' | 'resume' | 'close' | 'withdraw' | 'revoke' | 'rent' | 'topUp'
>;

const WAYS: Record<string, (party: Participant) => Verbs> = {
  'through the API': ({ client, signer }) => {
    const options = { connection };
    const through = async (sent: Promise<unknown>) => {
      await sent;
      return { signature: '' };
    };
    return {
      rent: (id, terms, given) => through(api.rent(client, signer, id, terms, { ...options, ...given })),
      renew: (id, terms, given) => through(api.renew(client, signer, id, terms, { ...options, ...given })),
      topUp: (id, terms, given) => through(api.topUp(client, signer, id, terms, { ...options, ...given })),
      reclaim: (id, given) => through(api.reclaim(client, signer, id, { ...options, ...given })),
      update: (id, changes) => through(api.update(client, signer, id, changes, options)),
      pause: (id) => through(api.pause(client, signer, id, options)),
      resume: (id) => through(api.resume(client, signer, id, options)),
      close: (id, given) => through(api.close(client, signer, id, { ...options, ...given })),
      withdraw: (id, terms) => through(api.withdraw(client, signer, id, terms, options)),
      revoke: (id, buyer) => through(api.revoke(client, signer, id, buyer, options)),
    };
  },
  directly: ({ signer }) =>
    api.createMarketplaceWallet({ connection, signer, programId: marketplace.dev.program_id }),
};

// A separate marketplace: dozens of listings would push the examples off the first page of the other tests.
beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off', SANDBOX_POOL_SIZE: '1' });
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
});

afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

const participant = () => newParticipant(marketplace);
const publishListing = (party: Participant, terms: Terms) => publishIdleListing(party, connection, terms);

async function refusalOf(
  action: Promise<unknown>,
): Promise<{ code: string; anchorCode?: number | undefined }> {
  try {
    await action;
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { code: error.code, anchorCode: error.onChainError?.anchor_code };
  }
  throw new Error('It was not refused.');
}

const execute = (party: Participant, agent_id: string) =>
  call(marketplace, 'POST', '/v1/execute', { token: party.token, body: { agent_id, task: 'nothing' } });

/** The index follows the chain: a transaction sent past the API is in the index a moment later. */
const indexed = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 10_000, interval: 100 });

const lamportsOf = (address: PublicKey) => connection.getBalance(address, 'confirmed');

describe.each(Object.keys(WAYS))('%s', (way) => {
  const verbsOf = (party: Participant): Verbs => {
    const make = WAYS[way];
    if (!make) throw new Error(`There is no way ${way}.`);
    return make(party);
  };

  test('a Per-Task balance: rented, low after a rise of the price, topped up, reclaimed once closed [CRD-14, CRD-21, CRD-23, CRD-27, LST-33, TXN-1]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const [selling, renting] = [verbsOf(creator), verbsOf(renter)];
    const id = await publishListing(creator, {
      rental_model: 'per_query',
      price_lamports: PRICE,
      min_deposit_lamports: 2 * PRICE,
    });
    const credential = () => renter.client.verifyCredential(id);

    await renting.rent(id, { deposit_lamports: 3 * PRICE, max_price_lamports: PRICE });
    expect(await credential()).toMatchObject({ status: 'active', balance_lamports: 3 * PRICE });

    // The price rises above the renter's agreed price.
    await selling.update(id, { price_lamports: 2 * PRICE });
    expect(await credential()).toMatchObject({ status: 'low_balance', valid: false });
    // Until the index knows the new price, a run is admitted and charged at the previous one.
    await indexed(async () => {
      expect(await renter.client.getListing(id)).toMatchObject({ price_lamports: 2 * PRICE });
    });
    const refused = await execute(renter, id);
    expect(refused.status).toBe(403);
    expect(errorOf(refused.body)).toMatchObject({ code: 'insufficient_balance' });
    const low = await refusalOf(renting.topUp(id, { amount_lamports: 0, max_price_lamports: PRICE }));
    expect(low.code).toBe('insufficient_balance');

    await renting.topUp(id, { amount_lamports: 0, max_price_lamports: 2 * PRICE });
    expect(await credential()).toMatchObject({ status: 'active', balance_lamports: 3 * PRICE });
    await renting.topUp(id, { amount_lamports: PRICE, max_price_lamports: 2 * PRICE });
    expect(await credential()).toMatchObject({ status: 'active', valid: true, balance_lamports: 4 * PRICE });

    expect(await refusalOf(renting.reclaim(id))).toMatchObject({
      code: way === 'directly' ? 'credential_not_found' : 'invalid_request',
    });
    await selling.close(id);
    expect(await credential()).toMatchObject({ status: 'not_found', valid: false });
    await indexed(async () => {
      const { status, body } = await execute(renter, id);
      expect(status).toBe(404);
      expect(errorOf(body)).toMatchObject({ code: 'listing_not_found' });
    });
    expect(await renter.client.getListing(id)).toMatchObject({ status: 'closed' });

    const before = await lamportsOf(renter.wallet.publicKey);
    let quoted: number | undefined;
    const approve: api.ActionOptions['approve'] = (quote) => {
      quoted = quote.returned_lamports;
      return true;
    };
    await renting.reclaim(id, { approve });
    expect(quoted).toBeGreaterThan(4 * PRICE);
    expect(await lamportsOf(renter.wallet.publicKey)).toBe(before + (quoted ?? 0) - SIGNATURE_FEE);
    expect((await refusalOf(renting.reclaim(id))).code).toMatch(/credential_not_found|invalid_request/);
  });

  test('a Per-Task balance: reclaimed after a rise of the price above the agreed one, and topped up later [PRG-31, TXN-1]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const [selling, renting] = [verbsOf(creator), verbsOf(renter)];
    const terms = { price_lamports: PRICE, min_deposit_lamports: 2 * PRICE };
    const id = await publishListing(creator, { rental_model: 'per_query', ...terms });
    await renting.rent(id, { deposit_lamports: 3 * PRICE, max_price_lamports: PRICE });
    expect((await refusalOf(renting.reclaim(id))).code).toMatch(/credential_not_found|invalid_request/);
    await selling.update(id, { price_lamports: 2 * PRICE });

    const before = await lamportsOf(renter.wallet.publicKey);
    await renting.reclaim(id);
    expect(await lamportsOf(renter.wallet.publicKey)).toBe(before + 3 * PRICE - SIGNATURE_FEE);
    expect(await renter.client.verifyCredential(id)).toMatchObject({
      status: 'low_balance',
      balance_lamports: 0,
    });
    await renting.topUp(id, { amount_lamports: 2 * PRICE, max_price_lamports: 2 * PRICE });
    expect(await renter.client.verifyCredential(id)).toMatchObject({ status: 'active', valid: true });
  });

  test('a Per-Task rental: ended by its creator, all of it returned to the buyer, and no run after it [TXN-1, TXN-12]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const [selling, renting] = [verbsOf(creator), verbsOf(renter)];
    const id = await publishListing(creator, { rental_model: 'per_query', price_lamports: PRICE });
    await renting.rent(id, { deposit_lamports: 3 * PRICE, max_price_lamports: PRICE });
    const buyer = renter.wallet.publicKey.toBase58();
    const foreign = way === 'directly' ? 'credential_not_found' : 'listing_not_found';
    expect((await refusalOf(renting.revoke(id, buyer))).code).toBe(foreign);

    const before = await lamportsOf(renter.wallet.publicKey);
    await selling.revoke(id, buyer);
    expect(await lamportsOf(renter.wallet.publicKey)).toBeGreaterThan(before + 3 * PRICE);
    expect(await renter.client.verifyCredential(id)).toMatchObject({ status: 'not_found', valid: false });
    await indexed(async () => {
      const { status, body } = await execute(renter, id);
      expect(status).toBe(403);
      expect(errorOf(body)).toMatchObject({ code: 'credential_not_found' });
    });
    expect((await refusalOf(selling.revoke(id, buyer))).code).toBe('credential_not_found');
  });

  test('a subscription: rented, renewed to a later end, and its listing not closed before it [PRG-10, PRG-20, PRG-27, TXN-1]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const [selling, renting] = [verbsOf(creator), verbsOf(renter)];
    const id = await publishListing(creator, { rental_model: 'subscription', price_lamports: PRICE });
    const end = async () => {
      const { credentials } = await renter.client.listCredentials();
      return Date.parse(credentials.find(({ listing_id }) => listing_id === id)?.expires_at ?? '');
    };

    expect((await refusalOf(renting.rent(id, { max_price_lamports: PRICE }))).code).toBe('invalid_request');
    await renting.rent(id, { duration_seconds: DAYS_30, max_price_lamports: PRICE });
    await indexed(async () => expect(await end()).toBeGreaterThan(Date.now()));
    const first = await end();
    const dear = renting.renew(id, { duration_seconds: DAYS_90, max_price_lamports: 3 * PRICE - 1 });
    expect((await refusalOf(dear)).code).toBe('insufficient_balance');

    const before = await lamportsOf(renter.wallet.publicKey);
    await renting.renew(id, { duration_seconds: DAYS_90, max_price_lamports: 3 * PRICE });
    expect(await lamportsOf(renter.wallet.publicKey)).toBe(before - 3 * PRICE - SIGNATURE_FEE);
    await indexed(async () => expect(await end()).toBeGreaterThan(first));
    expect(await end()).toBeLessThanOrEqual(Date.now() + DAYS_90 * 1000);
    const shorter = renting.renew(id, { duration_seconds: DAYS_30, max_price_lamports: PRICE });
    expect((await refusalOf(shorter)).code).toBe('invalid_request');

    const refused = await refusalOf(selling.close(id));
    expect(refused).toMatchObject(
      way === 'directly' ? { code: 'invalid_request', anchorCode: 6103 } : { code: 'invalid_request' },
    );
  });

  test('a listing: paused and resumed, its earnings withdrawn in part, the rest at its close [CRD-27, ERR-9, PRG-7, PRG-24, TXN-1, TXN-6, TXN-12, MON-11]', async () => {
    const [creator, renter, late] = await Promise.all([participant(), participant(), participant()]);
    const [selling, renting] = [verbsOf(creator), verbsOf(renter)];
    const id = await publishListing(creator, { rental_model: 'one_time', price_lamports: PRICE });
    const renterBefore = await lamportsOf(renter.wallet.publicKey);
    let rent = 0;
    await renting.rent(
      id,
      {},
      { approve: (quote) => ((rent = quote.rent_lamports), quote.price_lamports === PRICE) },
    );
    expect(await lamportsOf(renter.wallet.publicKey)).toBe(renterBefore - PRICE - rent - SIGNATURE_FEE);

    await selling.pause(id);
    const paused = await refusalOf(verbsOf(late).rent(id, { max_price_lamports: PRICE }));
    expect(paused.code).toBe('listing_paused');
    expect(await renter.client.verifyCredential(id)).toMatchObject({ status: 'active', valid: true });
    await indexed(async () => {
      const { status, body } = await execute(renter, id);
      expect(status).toBe(403);
      expect(errorOf(body)).toMatchObject({ code: 'listing_paused' });
    });
    await selling.resume(id);
    await indexed(async () => {
      expect(await creator.client.getListing(id)).toMatchObject({ status: 'active' });
    });
    await selling.update(id, { price_lamports: 2 * PRICE });
    const dearer = verbsOf(late).rent(id, { max_price_lamports: PRICE });
    expect((await refusalOf(dearer)).code).toBe('insufficient_balance');

    // 2.5% of the price is the protocol's.
    const earned = PRICE - PRICE / 40;
    const before = await lamportsOf(creator.wallet.publicKey);
    await selling.withdraw(id, { amount_lamports: 1_000 });
    expect(await lamportsOf(creator.wallet.publicKey)).toBe(before + 1_000 - SIGNATURE_FEE);
    expect((await refusalOf(selling.withdraw(id, { amount_lamports: earned }))).code).toBe('invalid_request');
    await selling.close(id);
    expect(await lamportsOf(creator.wallet.publicKey)).toBe(before + earned - 2 * SIGNATURE_FEE);
    const nothing = await refusalOf(selling.withdraw(id));
    expect(nothing).toMatchObject({ code: 'invalid_request' });
    expect((await refusalOf(selling.resume(id))).code).toMatch(/listing_not_found|listing_paused/);
  });

  test('a wallet acts on its own listings alone, and a declined proposal costs nothing [TXN-12, TXN-16]', async () => {
    const [creator, stranger] = await Promise.all([participant(), participant()]);
    const id = await publishListing(creator, { rental_model: 'one_time', price_lamports: PRICE });
    const other = verbsOf(stranger);
    const refusals = await Promise.all(
      [other.pause(id), other.update(id, { price_lamports: 1_000 }), other.close(id), other.withdraw(id)].map(
        refusalOf,
      ),
    );
    for (const refusal of refusals) {
      expect(refusal).toEqual(
        way === 'directly'
          ? { code: 'credential_not_found', anchorCode: 6004 }
          : { code: 'listing_not_found', anchorCode: undefined },
      );
    }
    const before = await lamportsOf(stranger.wallet.publicKey);
    await expect(other.rent(id, {}, { approve: () => false })).rejects.toMatchObject({ reason: 'declined' });
    expect(await lamportsOf(stranger.wallet.publicKey)).toBe(before);
  });

  test('a wallet without money is told so [TXN-6]', async () => {
    const creator = await participant();
    const id = await publishListing(creator, { rental_model: 'one_time', price_lamports: PRICE });
    const signer = api.keypairSigner(Keypair.generate());
    const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
    const poor = { ...creator, signer, client };
    await expect(verbsOf(poor).rent(id, { max_price_lamports: PRICE })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('too little SOL') as string,
    });
  });
});

describe('a wallet with an RPC endpoint alone', () => {
  /** A signer that changes the instructions and then signs, as wallet applications do. */
  const changing = (
    { wallet, signer }: Participant,
    change: (instructions: TransactionInstruction[]) => TransactionInstruction[],
  ): api.WalletSigner => ({
    ...signer,
    signTransaction: async (wire) => {
      const { message } = VersionedTransaction.deserialize(wire);
      const { instructions, payerKey } = TransactionMessage.decompile(message);
      const { blockhash: recentBlockhash } = await connection.getLatestBlockhash('confirmed');
      const changed = new TransactionMessage({
        payerKey,
        recentBlockhash,
        instructions: change(instructions),
      });
      const transaction = new VersionedTransaction(changed.compileToV0Message());
      transaction.sign([wallet]);
      return transaction.serialize();
    },
  });

  test('is not asked to sign a transaction that cannot work', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const id = await publishListing(creator, { rental_model: 'one_time', price_lamports: PRICE });
    const signTransaction = vi.fn(renter.signer.signTransaction);
    const approve = vi.fn(() => true);
    const wallet = api.createMarketplaceWallet({
      connection,
      signer: { ...renter.signer, signTransaction },
      programId: marketplace.dev.program_id,
    });
    const refusal = await refusalOf(wallet.rent(id, { max_price_lamports: PRICE - 1 }, { approve }));
    expect(refusal).toEqual({ code: 'insufficient_balance', anchorCode: 6101 });
    expect((await refusalOf(wallet.rent('nothing-aaaaaa'))).code).toBe('listing_not_found');
    expect(approve).not.toHaveBeenCalled();
    expect(signTransaction).not.toHaveBeenCalled();
    // Without a cap in the request it agrees to the present price.
    await wallet.rent(id, {}, { approve });
    expect(approve).toHaveBeenCalledWith(
      expect.objectContaining({ price_lamports: PRICE, max_price_lamports: PRICE }),
    );
    expect(await renter.client.verifyCredential(id)).toMatchObject({ status: 'active' });
  });

  test('may add a compute budget and a new blockhash, and nothing else [TXN-16]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const id = await publishListing(creator, { rental_model: 'one_time', price_lamports: PRICE });
    const rentBy = (signer: api.WalletSigner) =>
      api
        .createMarketplaceWallet({ connection, signer, programId: marketplace.dev.program_id })
        .rent(id, { max_price_lamports: PRICE });
    const lamports = 1_000;
    const transfer = SystemProgram.transfer({
      fromPubkey: renter.wallet.publicKey,
      toPubkey: creator.wallet.publicKey,
      lamports,
    });
    const before = await lamportsOf(renter.wallet.publicKey);
    const greedy = changing(renter, (instructions) => [...instructions, transfer]);
    await expect(rentBy(greedy)).rejects.toMatchObject({ reason: 'program' });
    expect(await lamportsOf(renter.wallet.publicKey)).toBe(before);

    const budget = ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 });
    await rentBy(changing(renter, (instructions) => [budget, ...instructions]));
    expect(await renter.client.verifyCredential(id)).toMatchObject({ status: 'active' });
  });
});

describe('with nothing but HTTP', () => {
  const propose = (party: Participant, body: Record<string, unknown>) =>
    call(marketplace, 'POST', '/v1/transactions', { token: party.token, body });
  const submit = (
    party: Participant,
    proposal: Record<string, unknown>,
    { blockhash, request }: { blockhash?: string; request?: Record<string, unknown> } = {},
  ) => {
    const wire = Buffer.from(String(proposal['transaction']), 'base64');
    const transaction = VersionedTransaction.deserialize(wire);
    transaction.message.recentBlockhash = blockhash ?? transaction.message.recentBlockhash;
    transaction.sign([party.wallet]);
    const signed = Buffer.from(transaction.serialize()).toString('base64');
    return call(marketplace, 'POST', '/v1/transactions/submit', {
      token: party.token,
      body: { transaction: signed, request },
    });
  };

  let stranger: Participant;
  let perQueryId: string;

  beforeAll(async () => {
    const [creator, other] = await Promise.all([participant(), participant()]);
    stranger = other;
    perQueryId = await publishListing(creator, { rental_model: 'per_query', price_lamports: PRICE });
  });

  test('a quote tells the payments, the agreed price, and the returns [TXN-1, TXN-4]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const id = await publishListing(creator, { rental_model: 'subscription', price_lamports: PRICE });
    const rent = await propose(renter, {
      action: 'rent',
      listing_id: id,
      duration_seconds: DAYS_90,
      max_price_lamports: 4 * PRICE,
    });
    expect(rent.body).toMatchObject({
      payer: renter.wallet.publicKey.toBase58(),
      chain: 'solana:localnet',
      quote: {
        price_lamports: 3 * PRICE,
        max_price_lamports: 4 * PRICE,
        network_fee_lamports: SIGNATURE_FEE,
      },
    });
    const submitted = await submit(renter, rent.body);
    expect(submitted.body).toMatchObject({
      listing_id: id,
      credential: { listing_id: id, status: 'active', valid: true, on_chain_verified: true },
    });
    const withdraw = await propose(creator, { action: 'withdraw', listing_id: id });
    expect(withdraw.body).toMatchObject({
      quote: { price_lamports: 0, rent_lamports: 0, returned_lamports: (3 * PRICE * 39) / 40 },
    });
  });

  test('the program’s own refusal comes with its code [ERR-2, TXN-6, TXN-10, TXN-4]', async () => {
    const [creator, renter] = await Promise.all([participant(), participant()]);
    const id = await publishListing(creator, { rental_model: 'one_time', price_lamports: PRICE });
    const rent = { action: 'rent', listing_id: id, max_price_lamports: PRICE };
    const [first, second] = [
      await propose(renter, rent),
      await propose(renter, { ...rent, max_price_lamports: PRICE + 1 }),
    ];
    expect((await submit(renter, first.body)).status).toBe(200);
    // The same bytes again are the same transaction.
    expect((await submit(renter, first.body)).status).toBe(200);
    const again = await submit(renter, second.body);
    expect(again.status).toBe(403);
    expect(errorOf(again.body)).toMatchObject({
      code: 'credential_not_found',
      on_chain_error: { program: marketplace.dev.program_id, anchor_code: 6005 },
    });
    const proposed = await propose(renter, rent);
    expect(proposed.status).toBe(400);
    expect(String(errorOf(proposed.body)['message'])).toContain('permanent');
  });

  test.each([
    [{ action: 'renew', duration_seconds: 1 }, 400, 'invalid_request'],
    [{ action: 'renew', duration_seconds: DAYS_30 }, 400, 'invalid_request'],
    [{ action: 'topup', amount_lamports: PRICE }, 403, 'credential_not_found'],
    [{ action: 'topup', amount_lamports: -1 }, 400, 'invalid_request'],
    [{ action: 'reclaim' }, 403, 'credential_not_found'],
    [{ action: 'rent', deposit_lamports: 1 }, 400, 'invalid_request'],
    [{ action: 'rent', max_price_lamports: 1 }, 403, 'insufficient_balance'],
    [{ action: 'update' }, 404, 'listing_not_found'],
    [{ action: 'update', metadata_uri: 'x'.repeat(201) }, 400, 'invalid_request'],
    [{ action: 'withdraw', amount_lamports: 0 }, 400, 'invalid_request'],
    [{ action: 'resume', extra: 1 }, 400, 'invalid_request'],
    [{ action: 'steal' }, 400, 'invalid_request'],
  ])('%o on a Per-Task listing by a stranger: %i %s [TXN-10]', async (request, status, code) => {
    const answer = await propose(stranger, { listing_id: perQueryId, ...request });
    expect(answer.status).toBe(status);
    expect(errorOf(answer.body)).toMatchObject({ code, status });
  });

  test('a transaction that is too old gives a new one, which works [TXN-23]', async () => {
    const renter = await participant();
    const request = { action: 'rent', listing_id: perQueryId, max_price_lamports: PRICE };
    const { body } = await propose(renter, request);
    const blockhash = Keypair.generate().publicKey.toBase58();
    const alone = await submit(renter, body, { blockhash });
    expect(errorOf(alone.body)).toMatchObject({
      code: 'invalid_request',
      reason: expect.stringContaining('too old'),
    });
    expect(errorOf(alone.body)).not.toHaveProperty('proposal');
    const late = await submit(renter, body, { blockhash, request });
    expect(late.status).toBe(400);
    const { proposal } = errorOf(late.body) as { proposal: Record<string, unknown> };
    const { quote, sign_within_seconds: seconds } = body;
    expect(proposal).toMatchObject({ quote, sign_within_seconds: seconds });
    expect((await submit(renter, proposal)).body).toMatchObject({ credential: { valid: true } });
  });

  test('an update that the program would refuse is refused before it is signed', async () => {
    const creator = await participant();
    const id = await publishListing(creator, { rental_model: 'per_query', price_lamports: PRICE });
    const listing_id = id;
    for (const changes of [{}, { price_lamports: 2 * PRICE }, { min_deposit_lamports: PRICE - 1 }]) {
      const { status, body } = await propose(creator, { action: 'update', listing_id, ...changes });
      expect(status).toBe(400);
      expect(errorOf(body)).toMatchObject({ code: 'invalid_request' });
    }
    expect((await propose(creator, { action: 'resume', listing_id })).status).toBe(400);
    // Below the protocol's floor for Per-Task prices, which only the program knows.
    const cheap = await propose(creator, { action: 'update', listing_id, price_lamports: 1_000 });
    const refused = await submit(creator, cheap.body);
    expect(refused.status).toBe(400);
    expect(errorOf(refused.body)).toMatchObject({ on_chain_error: { anchor_code: 6009 } });
  });
});
