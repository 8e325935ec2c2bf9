import { join } from 'node:path';
import { consumeQuery, revokeAccess, revokePerQueryAccess } from '@agent-rental/program-client';
import * as api from '@agent-rental/sdk/solana';
import {
  Connection,
  PublicKey,
  sendAndConfirmTransaction,
  Transaction,
  type Keypair,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { publishIdleListing, type Terms } from '../support/agents/agents.js';
import { IS_QUICK } from '../support/form.js';
import { call, login, type Answer } from '../support/http.js';
import {
  newStateDir,
  readKeypair,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { descendants } from '../support/processes/processes.js';

const PRICE = 1_000_000;
const DAYS_30 = 2_592_000;
const DAYS_365 = 31_536_000;
const SETTINGS = { EXAMPLES: 'off', SANDBOX_POOL_SIZE: '1' };

let stateDir: string;
let marketplace: OwnMarketplace;
let connection: Connection;
let creator: Participant;

const ONE_TIME: Terms = { rental_model: 'one_time', price_lamports: PRICE };
const SUBSCRIPTION: Terms = { rental_model: 'subscription', price_lamports: PRICE };
const PER_QUERY: Terms = { rental_model: 'per_query', price_lamports: PRICE, min_deposit_lamports: PRICE };

beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, SETTINGS);
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
  creator = await participant();
});
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

const participant = () => newParticipant(marketplace);
const publish = (terms: Terms) => publishIdleListing(creator, connection, terms);
const rent = ({ client, signer }: Participant, id: string, terms: Partial<api.RentTerms>) =>
  api.rent(client, signer, id, { max_price_lamports: PRICE, ...terms }, { connection });
const topUp = (
  { client, signer }: Participant,
  id: string,
  amount_lamports: number,
  max_price_lamports = PRICE,
) => api.topUp(client, signer, id, { amount_lamports, max_price_lamports }, { connection });
const changePrice = (id: string, price_lamports: number) =>
  api.update(
    creator.client,
    creator.signer,
    id,
    { price_lamports, min_deposit_lamports: price_lamports },
    { connection },
  );

/** Sends a transaction to the chain, past the API. */
const send = (instruction: TransactionInstruction, ...signers: Keypair[]) =>
  sendAndConfirmTransaction(connection, new Transaction().add(instruction), signers);
const key = (name: string) => readKeypair(join(stateDir, 'keys', `${name}.json`));

const verify = async ({ token }: Participant, id: string) => {
  const { status, body } = await call(marketplace, 'GET', `/v1/credentials/${id}`, { token });
  expect(status).toBe(200);
  return body;
};
const list = ({ token }: Participant, query = '') =>
  call(marketplace, 'GET', `/v1/credentials${query}`, { token });
const listed = async (party: Participant, query = '') => {
  const { body } = await list(party, query);
  return body as { credentials: Record<string, unknown>[]; total: number };
};
const execute = ({ token }: Participant, agent_id: string) =>
  call(marketplace, 'POST', '/v1/execute', { token, body: { agent_id, task: 'nothing' } });
const errorOf = ({ body }: Answer) => body['error'] as Record<string, unknown>;

/** The index follows the chain: a transaction sent past the API is in the index a moment later. */
const indexed = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 100 });

/** The address of a credential, derived as the specification gives it. */
async function credentialAddress({ token, wallet }: Participant, id: string): Promise<string> {
  const { body } = await call(marketplace, 'GET', `/v1/listings/${id}`, { token });
  const listing = new PublicKey(String(body['on_chain_address'])).toBuffer();
  const seeds = [Buffer.from('access_credential'), wallet.publicKey.toBuffer(), listing];
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(marketplace.dev.program_id))[0].toBase58();
}

describe('a credential', () => {
  test('bought past the API: listed within two seconds of its confirmation [CRD-30]', async () => {
    const [renter, id] = [await participant(), await publish(ONE_TIME)];
    const wallet = api.createMarketplaceWallet({
      connection,
      signer: renter.signer,
      programId: marketplace.dev.program_id,
    });
    await wallet.rent(id, { max_price_lamports: PRICE });
    await vi.waitFor(
      async () => {
        expect((await listed(renter)).credentials).toMatchObject([{ listing_id: id, status: 'active' }]);
      },
      { timeout: 2_000, interval: 50 },
    );
  });

  test('of a Per-Task rental whose balance is spent: low_balance, and active at once after a top-up [CRD-10, CRD-12, CRD-20, CRD-23, CRD-35]', async () => {
    const [renter, id] = [await participant(), await publish(PER_QUERY)];
    await rent(renter, id, { deposit_lamports: PRICE });
    expect(await verify(renter, id)).toMatchObject({
      status: 'active',
      valid: true,
      balance_lamports: PRICE,
    });

    const [authority, treasury] = [await key('authority'), await key('treasury')];
    const charge = consumeQuery({
      authority: authority.publicKey,
      buyer: renter.wallet.publicKey,
      listingId: id,
      treasury: treasury.publicKey,
      sequence: 1n,
      runId: new Uint8Array(16),
      priceLamports: BigInt(PRICE),
    });
    await send(charge, authority);
    expect(await verify(renter, id)).toMatchObject({
      status: 'low_balance',
      valid: false,
      on_chain_verified: true,
      balance_lamports: 0,
    });
    // The index has the state that verify has read from the chain.
    expect((await listed(renter, '?status=low_balance')).credentials).toMatchObject([
      { listing_id: id, status: 'low_balance', balance_lamports: 0, expires_at: null },
    ]);
    const refused = await execute(renter, id);
    expect(refused.status).toBe(403);
    expect(errorOf(refused)['code']).toBe('insufficient_balance');

    await topUp(renter, id, 2 * PRICE);
    expect(await verify(renter, id)).toMatchObject({ status: 'active', balance_lamports: 2 * PRICE });
    expect((await listed(renter, '?status=active')).total).toBe(1);
  });

  test('of a Per-Task rental that cannot pay the price, or has not agreed to it: low_balance [CRD-21]', async () => {
    const [renter, id] = [await participant(), await publish(PER_QUERY)];
    await rent(renter, id, { deposit_lamports: 3 * PRICE });
    // Above the agreed price, though the balance would do.
    await changePrice(id, 2 * PRICE);
    expect(await verify(renter, id)).toMatchObject({ status: 'low_balance', valid: false });
    await indexed(async () => {
      expect((await listed(renter)).credentials).toMatchObject([{ status: 'low_balance' }]);
    });
    const dearer = await execute(renter, id);
    expect([dearer.status, errorOf(dearer)['code']]).toEqual([403, 'insufficient_balance']);
    const prices = new RegExp(`${2 * PRICE} lamports.* ${PRICE} lamports`, 'u');
    expect(errorOf(dearer)['message']).toMatch(prices);
    await topUp(renter, id, 0, 4 * PRICE);
    expect(await verify(renter, id)).toMatchObject({ status: 'active', valid: true });
    // The agreed price, but more than the balance.
    await changePrice(id, 4 * PRICE);
    expect(await verify(renter, id)).toMatchObject({
      status: 'low_balance',
      valid: false,
      balance_lamports: 3 * PRICE,
    });
    await indexed(async () => {
      const short = await execute(renter, id);
      expect([short.status, errorOf(short)['code']]).toEqual([403, 'insufficient_balance']);
    });
  });

  test('of a paused listing stays active while its runs are refused; of a closed one it is gone [CRD-27, ERR-9]', async () => {
    const [renter, id] = [await participant(), await publish(ONE_TIME)];
    await rent(renter, id, {});
    await api.pause(creator.client, creator.signer, id, { connection });
    expect(await verify(renter, id)).toMatchObject({ status: 'active', valid: true });
    await indexed(async () => {
      const paused = await execute(renter, id);
      expect([paused.status, errorOf(paused)['code']]).toEqual([403, 'listing_paused']);
    });
    expect((await listed(renter)).credentials).toMatchObject([{ listing_id: id, status: 'active' }]);

    await api.close(creator.client, creator.signer, id, { connection });
    expect(await verify(renter, id)).toMatchObject({ status: 'not_found', valid: false });
    await indexed(async () => {
      expect(await listed(renter)).toEqual({ credentials: [], total: 0 });
      const closed = await execute(renter, id);
      expect([closed.status, errorOf(closed)['code']]).toEqual([404, 'listing_not_found']);
    });
    expect(await renter.client.getListing(id)).toMatchObject({ status: 'closed' });
  });

  test('that was revoked: not_found on a chain that still has its account, and no run [CRD-24]', async () => {
    const renter = await participant();
    const [bought, prepaid] = [await publish(ONE_TIME), await publish(PER_QUERY)];
    await rent(renter, bought, {});
    await rent(renter, prepaid, { deposit_lamports: PRICE });
    const admin = await key('admin');
    await connection.confirmTransaction({
      signature: await connection.requestAirdrop(admin.publicKey, 1_000_000_000),
      ...(await connection.getLatestBlockhash()),
    });
    const buyer = renter.wallet.publicKey;
    await send(revokeAccess({ admin: admin.publicKey, buyer, listingId: bought }), admin);
    const revoker = creator.wallet.publicKey;
    await send(revokePerQueryAccess({ revoker, buyer, listingId: prepaid }), creator.wallet);

    for (const [id, rental_model] of [
      [bought, 'one_time'],
      [prepaid, 'per_query'],
    ] as const) {
      expect(await verify(renter, id)).toEqual({
        listing_id: id,
        rental_model,
        status: 'not_found',
        valid: false,
        pda_address: await credentialAddress(renter, id),
        on_chain_verified: true,
      });
      const refused = await execute(renter, id);
      expect(refused.status).toBe(403);
      expect(errorOf(refused)).toMatchObject({
        code: 'credential_not_found',
        on_chain_error: { program: marketplace.dev.program_id, anchor_code: 6006 },
      });
    }
    expect(await listed(renter)).toEqual({ credentials: [], total: 0 });
  });
});

describe('the list of credentials', () => {
  test('is filtered by status and paged, with the total of the filter [CRD-4]', async () => {
    const renter = await participant();
    const ids: string[] = [];
    for (const [terms, bought] of [
      [ONE_TIME, {}],
      [SUBSCRIPTION, { duration_seconds: DAYS_30 }],
      [PER_QUERY, { deposit_lamports: PRICE }],
    ] as const) {
      const id = await publish(terms);
      await rent(renter, id, bought);
      ids.unshift(id);
    }
    const idsOf = async (query: string) => {
      const { credentials, total } = await listed(renter, query);
      return { ids: credentials.map((credential) => credential['listing_id']), total };
    };
    const everything = await idsOf('');
    expect(everything.total).toBe(3);
    // Purchases within a second of each other have no defined order, but a stable one.
    expect(new Set(everything.ids)).toEqual(new Set(ids));
    expect(await idsOf('?limit=2')).toEqual({ ids: everything.ids.slice(0, 2), total: 3 });
    expect(await idsOf('?limit=2&offset=2')).toEqual({ ids: everything.ids.slice(2), total: 3 });
    expect(await idsOf('?offset=3')).toEqual({ ids: [], total: 3 });

    // From the end of a page on: the same remaining rentals, and none after the end.
    const cursorOf = async (query: string) => (await list(renter, query)).body['next_cursor'] as string;
    const cursor = await cursorOf('?limit=2');
    expect(await idsOf(`?limit=2&cursor=${cursor}`)).toEqual({ ids: everything.ids.slice(2), total: 3 });
    expect(await cursorOf(`?limit=2&cursor=${cursor}`)).toBeUndefined();
    for (const query of [
      `status=active&cursor=${cursor}`,
      `offset=2&cursor=${cursor}`,
      'cursor=2',
      'cursor=',
    ]) {
      const refused = await list(renter, `?${query}`);
      expect([refused.status, errorOf(refused)['code']], query).toEqual([400, 'invalid_request']);
    }

    const [prepaid = ''] = ids;
    await changePrice(prepaid, 2 * PRICE);
    await indexed(async () => {
      expect(await idsOf('?status=low_balance')).toEqual({ ids: [prepaid], total: 1 });
    });
    expect((await idsOf('?status=active')).total).toBe(2);
    expect(await idsOf('?status=expired')).toEqual({ ids: [], total: 0 });
    expect((await listed(creator)).total).toBe(0);
  });
});

test.skipIf(IS_QUICK)(
  'while the chain is out of reach a check is a 503 and never a guess; the list goes on [CRD-13]',
  async () => {
    const [renter, id] = [await participant(), await publish(ONE_TIME)];
    await rent(renter, id, {});
    const processes = await descendants(marketplace.process.pid ?? 0);
    const chain = processes.find(({ command }) => /local-chain.*child-main/u.test(command));
    expect(chain).toBeDefined();
    process.kill(chain?.pid ?? 0, 'SIGSTOP');
    try {
      const checking = call(marketplace, 'GET', `/v1/credentials/${id}`, { token: renter.token });
      expect((await listed(renter)).total).toBe(1);
      const refused = await checking;
      expect([refused.status, errorOf(refused)['code']]).toEqual([503, 'service_unavailable']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      process.kill(chain?.pid ?? 0, 'SIGCONT');
    }
    expect(await verify(renter, id)).toMatchObject({ status: 'active', on_chain_verified: true });
  },
);

// Last: it starts the server again.
describe('a subscription, on a server that finds itself a month later', () => {
  let renter: Participant;
  let id: string;
  let ends: number;

  beforeAll(async () => {
    renter = await participant();
    id = await publish(SUBSCRIPTION);
    await rent(renter, id, { duration_seconds: DAYS_30 });
    const [credential] = (await listed(renter)).credentials;
    ends = Date.parse(String(credential?.['expires_at']));
    expect(credential).toMatchObject({ status: 'active', rental_model: 'subscription' });
    expect(ends - Date.parse(String(credential?.['purchased_at']))).toBe(DAYS_30 * 1000);
    expect(await verify(renter, id)).toMatchObject({ status: 'active', valid: true });
  });
  beforeAll(async () => {
    await marketplace.stop();
    marketplace = await startMarketplace(stateDir, { ...SETTINGS, NODE_OPTIONS: clockAhead(DAYS_30 + 60) });
    connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
    renter.token = await login(marketplace, renter.wallet);
  });

  test('is expired, with its end, and runs nothing [CRD-8, CRD-16, ERR-7]', async () => {
    const ended = new Date(ends).toISOString();
    expect(await verify(renter, id)).toEqual({
      listing_id: id,
      rental_model: 'subscription',
      status: 'expired',
      valid: false,
      expired_at: ended,
      pda_address: await credentialAddress(renter, id),
      on_chain_verified: true,
    });
    expect((await listed(renter, '?status=expired')).credentials).toMatchObject([
      { listing_id: id, status: 'expired', expires_at: ended },
    ]);
    const refused = await execute(renter, id);
    expect([refused.status, errorOf(refused)['code']]).toEqual([403, 'credential_expired']);
  });

  test('is active again when renewed [CRD-17]', async () => {
    const wallet = api.createMarketplaceWallet({
      connection,
      signer: renter.signer,
      programId: marketplace.dev.program_id,
    });
    await wallet.renew(id, { duration_seconds: DAYS_365, max_price_lamports: 20 * PRICE });
    expect(await verify(renter, id)).toMatchObject({ status: 'active', valid: true });
    expect((await listed(renter, '?status=active')).total).toBe(1);
  });
});

/** Options that set the clock of a Node process forward. The chain keeps its time. */
function clockAhead(seconds: number): string {
  const shift = `const Real=Date;const ahead=${seconds * 1000};globalThis.Date=class extends Real{constructor(...given){
    if(given.length===0)super(Real.now()+ahead);else super(...given)}static now(){return Real.now()+ahead}}`;
  return `--import data:text/javascript,${encodeURIComponent(shift)}`;
}
