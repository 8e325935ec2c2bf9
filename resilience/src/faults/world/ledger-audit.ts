import {
  chargesOf,
  DEFAULT_FEE_BPS,
  decodeEscrow,
  decodeInstruction,
  decodePerQueryBalance,
  findEscrowAddress,
  MARKETPLACE_PROGRAM_ID,
  protocolFeeLamports,
} from '@agent-rental/program-client';
import { CREDITS_PER_DAY } from '@agent-rental/contract';
import type { Finality, PublicKey } from '@solana/web3.js';
import type { Rental as PaidRental, SoldListing } from '@agent-rental/test/support/agents/market-agents';
import { RUN_PRICE, type FaultMarket } from './market.js';

type AuditedRental = PaidRental<Pick<SoldListing, 'id' | 'address'>> & { readonly apiKey?: string };

type Books = Pick<FaultMarket, 'connection' | 'query'>;

interface LandedCharge {
  readonly runId: string;
  readonly priceLamports: bigint;
  readonly sequence: bigint;
}

/** A run of the wallet in the database. */
interface RecordedRun {
  id: string;
  status: string;
  cost_lamports: bigint;
  output_left: boolean;
  state: string | null;
  is_credited: boolean;
  /** Whether its wallet and listing had already reached the daily limit of credits. */
  is_beyond_bound: boolean;
  used_by: string | null;
  uses_credit: boolean;
}

/** The debits of a rental, and their reasons. */
export interface Account {
  readonly landed: readonly LandedCharge[];
  readonly runs: readonly RecordedRun[];
  readonly debitedLamports: bigint;
}

/** Decodes every landed charge of a balance from the chain's transactions. */
export async function landedCharges({ connection }: Pick<Books, 'connection'>, balance: PublicKey) {
  const commitment = connection.commitment as Finality;
  const found = await connection.getSignaturesForAddress(balance, {}, commitment);
  const signatures = found.filter(({ err }) => err === null).map(({ signature }) => signature);
  const how = { commitment, maxSupportedTransactionVersion: 0 };
  const transactions = await Promise.all(
    signatures.map((signature) => connection.getTransaction(signature, how)),
  );
  return transactions.flatMap((transaction) => {
    if (!transaction) throw new Error('A transaction of the balance cannot be read.');
    const { message } = transaction.transaction;
    const keys = message.getAccountKeys();
    return message.compiledInstructions.flatMap(({ programIdIndex, accountKeyIndexes, data }) => {
      if (keys.get(programIdIndex)?.equals(MARKETPLACE_PROGRAM_ID) !== true) return [];
      const accounts = accountKeyIndexes.flatMap((index) => keys.get(index) ?? []);
      // One transaction may charge several balances.
      return chargesOf(decodeInstruction(data, accounts))
        .filter(({ perQueryBalance }) => perQueryBalance.equals(balance))
        .map(({ runId, sequence, priceLamports }) => ({ runId: uuidOf(runId), sequence, priceLamports }));
    });
  });
}

const uuidOf = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

export async function accountOf(market: Books, rental: AuditedRental): Promise<Account> {
  const [landed, runs, info] = await Promise.all([
    landedCharges(market, rental.balanceAddress),
    market.query<RecordedRun>(
      `select runs.id, status, cost_lamports, output_left_at is not null as output_left, charges.state,
          given.run_id is not null as is_credited, given.used_by_run_id as used_by,
          given.run_id is null and $2 = (select count(*) from credits as others
            where others.wallet = runs.wallet and others.listing_id = runs.listing_id) as is_beyond_bound,
          exists (select from credits as used where used.used_by_run_id = runs.id) as uses_credit
        from runs left join charges on charges.run_id = runs.id left join credits as given on given.run_id = runs.id
        where runs.wallet = $1 and runs.listing_id = $3 order by runs.created_at`,
      [rental.wallet, CREDITS_PER_DAY, rental.listing.id],
    ),
    market.connection.getAccountInfo(rental.balanceAddress),
  ]);
  // The account of a revoked rental was paid back and closed.
  const debitedLamports = info
    ? rental.depositLamports - decodePerQueryBalance(info.data).balanceLamports
    : BigInt(landed.length) * RUN_PRICE;
  return { landed, runs, debitedLamports };
}

/** The faults in a rental's account after all charges are settled; empty when the money is right. */
export async function auditRental(market: Books, rental: AuditedRental): Promise<string[]> {
  const account = await accountOf(market, rental);
  const { landed, runs, debitedLamports } = account;
  const wrong: string[] = [];
  const charged = new Set<string>();
  for (const { runId, priceLamports } of landed) {
    if (charged.has(runId)) wrong.push(`run ${runId} was charged twice`);
    if (priceLamports !== RUN_PRICE) wrong.push(`run ${runId} was charged ${priceLamports} lamports`);
    if (!runs.some(({ id }) => id === runId)) wrong.push(`run ${runId} was charged and is not on record`);
    charged.add(runId);
  }
  if (debitedLamports !== BigInt(landed.length) * RUN_PRICE) {
    wrong.push(`${debitedLamports} lamports left the balance for ${landed.length} charges`);
  }
  for (const run of runs) wrong.push(...auditRun(run, charged.has(run.id)));
  const sum = explained(account);
  if (sum !== debitedLamports)
    wrong.push(`${debitedLamports} lamports were debited, the runs explain ${sum}`);
  if (rental.apiKey !== undefined) {
    const counted = await market.query('select from api_key_spends where id = any ($1)', [[...charged]]);
    if (counted.length < charged.size)
      wrong.push(`${charged.size - counted.length} charges do not count for their key`);
  }
  const open = await market.query<{ what: string }>(
    `select 'slot' as what from seats where wallet = $1 and expires_at > now() union all select 'place in the queue' from seat_line where wallet = $1
      union all select 'open charge' from charges where wallet = $1 and state in ('reserved', 'signed', 'confirmed')`,
    [rental.wallet],
  );
  return [...wrong, ...open.map(({ what }) => `a ${what} is left`)];
}

export const isPaid = ({ state }: RecordedRun) => state === 'finalized' || state === 'credited';

/** Whether a run was charged, not delivered and not credited, because its wallet and listing have no daily credits left. */
export function isUncredited(run: RecordedRun): boolean {
  return isPaid(run) && run.status === 'undelivered' && !run.output_left && run.is_beyond_bound;
}

/**
 * The debits that the runs explain: a charged run is answered, credited, cut off during its output, or over the daily credits.
 * Unpaid output after a fork is `lost`.
 */
function explained({ runs }: Account): bigint {
  return runs.reduce((sum, run) => {
    if (run.status !== 'undelivered')
      return sum + run.cost_lamports - (run.state === 'lost' ? RUN_PRICE : 0n);
    return run.is_credited || isUncredited(run) || (isPaid(run) && run.output_left) ? sum + RUN_PRICE : sum;
  }, 0n);
}

function auditRun(run: RecordedRun, hasLanded: boolean): string[] {
  const { id, status, cost_lamports: cost, state } = run;
  const wrong: string[] = [];
  if (status === 'running') wrong.push(`run ${id} is still on record as running`);
  if (isPaid(run) !== hasLanded)
    wrong.push(`the charge of run ${id} is ${state ?? 'absent'}, on-chain ${hasLanded}`);
  const isFree = cost === 0n;
  if (status === 'completed' && isFree && !run.uses_credit) wrong.push(`run ${id} was delivered unpaid`);
  if (status === 'completed' && !isFree && !hasLanded && state !== 'lost') {
    wrong.push(`run ${id} has a cost of ${cost} and was not charged`);
  }
  if (run.is_credited && (!hasLanded || status !== 'undelivered'))
    wrong.push(`run ${id} was credited as ${status}`);
  if (run.uses_credit && hasLanded) wrong.push(`run ${id} used a credit and was charged`);
  if (status === 'undelivered' && hasLanded && !run.is_credited && !run.output_left && !run.is_beyond_bound) {
    wrong.push(`run ${id} was charged, not delivered and not credited`);
  }
  if ((state === 'credited') !== run.is_credited && isPaid(run))
    wrong.push(`the charge of run ${id} is ${state}`);
  return wrong;
}

/** The faults in the earnings of listings and the treasury, compared with the charges of all rentals. */
export async function auditEarnings(
  market: Books & Pick<FaultMarket, 'treasury'> & { readonly rentals: readonly AuditedRental[] },
  treasuryBefore: number,
): Promise<string[]> {
  const wrong: string[] = [];
  let fees = 0n;
  const byListing = new Map<string, { listing: AuditedRental['listing']; charges: bigint }>();
  for (const rental of market.rentals) {
    const { debitedLamports } = await accountOf(market, rental);
    const { listing } = rental;
    const charges = (byListing.get(listing.id)?.charges ?? 0n) + debitedLamports / RUN_PRICE;
    byListing.set(listing.id, { listing, charges });
  }
  const fee = protocolFeeLamports(RUN_PRICE, DEFAULT_FEE_BPS);
  for (const { listing, charges } of byListing.values()) {
    const info = await market.connection.getAccountInfo(findEscrowAddress(listing.address).address);
    const earned = info ? decodeEscrow(info.data).totalEarnedLamports : 0n;
    if (earned !== charges * (RUN_PRICE - fee))
      wrong.push(`${listing.id} earned ${earned} of ${charges} charges`);
    fees += charges * fee;
  }
  const taken = BigInt((await market.connection.getBalance(market.treasury)) - treasuryBefore);
  if (taken !== fees) wrong.push(`the treasury took ${taken} lamports in fees and not ${fees}`);
  return wrong;
}
