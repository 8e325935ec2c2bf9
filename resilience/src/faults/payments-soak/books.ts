import {
  decodePerQueryBalance,
  findListingAddress,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { PublicKey, type Connection } from '@solana/web3.js';
import type { FaultMarket } from '../world/market.js';
import { RUN_PRICE } from '../world/market.js';
import { GRANTED_UNITS, tokenAccountOf } from '../paid-calls/payer.js';

const AT_ONCE = 8;
const PAGE = 1_000;
const TOKEN_ACCOUNT_BYTES = 165;
const AMOUNT_OFFSET = 64;

/** A payment on record, with its transfer. */
interface Row {
  signature: string;
  wallet: string;
  listing_id: string;
  state: string;
  units: string;
  transfer_kind: string | null;
  transfer_signature: string | null;
  transfer_lamports: string | null;
  transfer_units: string | null;
  transfer_rent_lamports: string | null;
}

/** Where the till and its USDC are. */
export interface Till {
  address: PublicKey;
  mint: PublicKey;
}

/**
 * Compares the till's books with the chain, to the lamport and the unit. It reads the USDC of payers and till, each balance, and every
 * transaction of the till.
 *
 * @param paid the wallets of payers, and how many runs each got
 */
export async function compareBooks(market: FaultMarket, till: Till, paid: ReadonlyMap<string, number>) {
  const rows = await market.query<Row>('select * from payments');
  const broken: string[] = [];
  const sums = { units_in: 0n, units_back: 0n, funded: 0n, rent: 0n, fees: 0n };
  const landed = rows.filter(({ state }) => state === 'funded' || state === 'refunded');
  const strange = rows.filter(({ state }) => !['funded', 'refunded', 'failed'].includes(state));
  broken.push(...strange.map(({ signature, state }) => `the payment ${signature} ended as ${state}`));
  for (const { units, transfer_units: back } of landed) {
    sums.units_in += BigInt(units);
    sums.units_back += BigInt(back ?? 0);
  }
  const held = await unitsAt(market.connection, till.address, till.mint);
  if (held !== sums.units_in - sums.units_back) {
    broken.push(`the till holds ${held} units, and its books have ${sums.units_in - sums.units_back}`);
  }
  await inParallel(paid, AT_ONCE, async ([wallet, runs]) => {
    const own = landed.filter((row) => row.wallet === wallet);
    broken.push(...(await wrongOfPayer(market, till, wallet, runs, own)));
  });
  broken.push(...(await wrongOfTill(market, till, rows, sums)));
  const amounts = Object.entries(sums).map(([name, amount]) => [name, String(amount)] as const);
  return { payments: rows.length, ...Object.fromEntries(amounts), broken };
}

async function unitsAt(connection: Connection, owner: PublicKey, mint: PublicKey): Promise<bigint> {
  const account = await connection.getAccountInfo(tokenAccountOf(owner, mint));
  return account?.data.length === TOKEN_ACCOUNT_BYTES ? account.data.readBigUInt64LE(AMOUNT_OFFSET) : 0n;
}

/** A payer paid once for its run, and all of the rest is its balance. */
async function wrongOfPayer(
  { connection }: FaultMarket,
  { mint }: Till,
  wallet: string,
  runs: number,
  own: readonly Row[],
): Promise<string[]> {
  const wrong: string[] = [];
  const owner = new PublicKey(wallet);
  if (own.length !== runs) wrong.push(`${wallet} paid ${own.length} times for ${runs} runs`);
  const spent = own.reduce((sum, row) => sum + BigInt(row.units) - BigInt(row.transfer_units ?? 0), 0n);
  const left = await unitsAt(connection, owner, mint);
  if (left !== GRANTED_UNITS - spent) wrong.push(`${wallet} has ${left} units, and paid ${spent}`);
  for (const row of own.filter(({ transfer_kind: kind }) => kind === 'fund')) {
    const listing = findListingAddress(row.listing_id).address;
    const account = await connection.getAccountInfo(findPerQueryBalanceAddress(owner, listing).address);
    const balance = account ? decodePerQueryBalance(account.data) : undefined;
    const funded = BigInt(row.transfer_lamports ?? 0);
    const debited = balance ? funded - balance.balanceLamports : undefined;
    if (debited !== RUN_PRICE * BigInt(runs))
      wrong.push(`${wallet} was debited ${debited} lamports of ${funded}`);
  }
  return wrong;
}

/** Each transaction that moved the till's lamports is in the books, with its amount. */
async function wrongOfTill(
  { connection }: FaultMarket,
  { address, mint }: Till,
  rows: readonly Row[],
  sums: { funded: bigint; rent: bigint; fees: bigint },
): Promise<string[]> {
  const wrong: string[] = [];
  const transfers = new Map(rows.map((row) => [row.transfer_signature, row]));
  const account = tokenAccountOf(address, mint).toBase58();
  const rent = BigInt(await connection.getMinimumBalanceForRentExemption(TOKEN_ACCOUNT_BYTES));
  let opened = 0;
  let moved = 0n;
  await inParallel(await signaturesOf(connection, address), AT_ONCE, async (signature) => {
    const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    const { meta, transaction } = found ?? {};
    const keys = transaction?.message.staticAccountKeys ?? [];
    const index = keys.findIndex((key) => key.equals(address));
    if (!meta) throw new Error(`${signature} is not on the chain.`);
    const fee = index === 0 ? BigInt(meta.fee) : 0n;
    const delta = BigInt(meta.postBalances[index] ?? 0) - BigInt(meta.preBalances[index] ?? 0);
    moved += delta;
    sums.fees += fee;
    const row = transfers.get(signature);
    let expected = -fee;
    if (row && meta.err === null && row.transfer_kind === 'fund') {
      const [lamports, rentOf] = [
        BigInt(row.transfer_lamports ?? 0),
        BigInt(row.transfer_rent_lamports ?? 0),
      ];
      sums.funded += lamports;
      sums.rent += rentOf;
      expected -= lamports + rentOf;
    } else if (delta === -fee - rent && keys.some((key) => key.toBase58() === account)) {
      opened += 1;
      expected = delta;
    } else if (index !== 0 && delta > 0n) {
      // The faucet's first payment to it.
      expected = delta;
    }
    if (delta !== expected)
      wrong.push(`${signature} moved ${delta} lamports, and the books have ${expected}`);
  });
  if (opened !== 1) wrong.push(`the account of the till was paid for ${opened} times`);
  const now = BigInt(await connection.getBalance(address));
  if (now !== moved) wrong.push(`the till holds ${now} lamports, and its transactions leave ${moved}`);
  return wrong;
}

async function signaturesOf(connection: Connection, address: PublicKey): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    const before = all.at(-1);
    const options = { limit: PAGE, ...(before === undefined ? {} : { before }) };
    const page = await connection.getSignaturesForAddress(address, options);
    all.push(...page.map(({ signature }) => signature));
    if (page.length < PAGE) return all;
  }
}
