import { accountName, decodePerQueryBalance } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { sql } from 'kysely';
import type { Chain, LandedCharge, ProgramHistory } from '../chain/index.js';
import { CHARGE_STATES, type ChargeState } from '../database/charge-states.js';
import type { Db } from '../database/connection.js';
import type { ChargeStates } from '../settlement/index.js';
import type { FoundDifference } from './differences.js';

/** Accounts that one call of the RPC gives. */
const BALANCES_PER_PAGE = 100;

/** The dependencies of the comparison. */
export interface CompareChargesDeps {
  chain: Pick<Chain, 'programId' | 'getAccounts' | 'statuses'>;
  history: Pick<ProgramHistory, 'transactionsOf' | 'chargesIn'>;
  states: Pick<ChargeStates, 'recordTaken'>;
  db: Db;
}

/**
 * Compares the charges of each prepaid balance in the database with the account's spent sum at `finalized`. Only
 * where the sums differ, or on request for every balance, reads the balance's transactions and compares them one by
 * one.
 *
 * @param options `everyTransaction` reads them for every balance; `counted` is told how many balances were compared.
 */
export async function* compareCharges(
  { chain, history, states, db }: CompareChargesDeps,
  { everyTransaction, counted }: { everyTransaction: boolean; counted(balances: number): void },
): AsyncGenerator<FoundDifference> {
  let after = '';
  for (;;) {
    const page = await balancesAfter(db, after);
    if (page.length === 0) return;
    counted(page.length);
    const { accounts } = await chain.getAccounts(
      page.map(({ address }) => new PublicKey(address)),
      'finalized',
    );
    for (const [index, balance] of page.entries()) {
      const spent = spentOf(accounts[index], chain.programId);
      // A balance that was closed has no sum any more; its transactions are read on request.
      if (everyTransaction || (spent !== undefined && spent !== balance.taken)) {
        yield* compareTransactions(balance.address);
      }
    }
    after = page.at(-1)?.address ?? '';
  }

  async function* compareTransactions(balance: string): AsyncGenerator<FoundDifference> {
    const charges = await chargesOf(db, balance);
    const unseen = new Set(charges.keys());
    for await (const signature of history.transactionsOf(new PublicKey(balance))) {
      for (const landed of (await history.chargesIn(signature)) ?? []) {
        // A transaction may charge several balances; each is compared by itself.
        if (landed.balance !== balance) continue;
        unseen.delete(landed.runId);
        yield* judge(landed, signature, balance, charges.get(landed.runId)?.state);
      }
    }
    for (const runId of unseen) {
      const charge = charges.get(runId);
      if (charge && isTaken(charge.state)) {
        yield { kind: 'charge_missing', address: balance, run_id: runId, lamports: charge.price_lamports };
      }
    }
  }

  /** Takes a charge back from its end, where the chain says that it was taken: with several endpoints, two of them. */
  async function recordTaken(runId: string, signature: string): Promise<void> {
    const [status] = await chain.statuses([signature], true);
    if (status?.confirmationStatus !== 'finalized' || status.err) return;
    await states.recordTaken(runId);
  }

  function* judge(
    landed: LandedCharge,
    signature: string,
    balance: string,
    state: ChargeState | undefined,
  ): Generator<FoundDifference> {
    const { runId, priceLamports: lamports } = landed;
    const about = { address: balance, run_id: runId, signature, lamports };
    if (state === undefined) yield { kind: 'unknown_charge', ...about };
    else if (!CHARGE_STATES[state].isOpen && !CHARGE_STATES[state].isPaid) {
      yield { kind: 'charge_landed', ...about, repair: () => recordTaken(runId, signature) };
    }
  }
}

/** Whether the chain took the price of a charge for good. */
function isTaken(state: ChargeState): boolean {
  return CHARGE_STATES[state].isPaid && !CHARGE_STATES[state].isOpen;
}

/** The spent sum of the account; undefined without an account. */
function spentOf(
  account: { owner: PublicKey; data: Buffer } | null | undefined,
  programId: PublicKey,
): bigint | undefined {
  if (!account?.owner.equals(programId) || accountName(account.data) !== 'PerQueryBalance') return undefined;
  return decodePerQueryBalance(account.data).totalSpentLamports;
}

interface BalanceSum {
  address: string;
  /** Of all charges that took effect, as the database has it. */
  taken: bigint;
}

/**
 * A page of the balances that exist or were ever charged, in the order of their addresses. Charged balances are found one
 * after the other in the index, past all other charges of each.
 */
async function balancesAfter(db: Db, after: string): Promise<BalanceSum[]> {
  const { rows } = await sql<BalanceSum>`
    with recursive charged (address, place) as (
      (select balance_address, 1 from charges where balance_address > ${after}
        order by balance_address limit 1)
      union all
      select (select balance_address from charges where balance_address > charged.address
        order by balance_address limit 1), place + 1
      from charged where place < ${BALANCES_PER_PAGE} and charged.address is not null
    )
    select address, coalesce((
      select sum(price_lamports) from charges
      where balance_address = address and state in ('confirmed', 'finalized', 'credited')
    ), 0)::bigint as taken
    from (
      (select address from balances where address > ${after} order by address limit ${BALANCES_PER_PAGE})
      union select address from charged where address is not null
    ) as known
    order by address limit ${BALANCES_PER_PAGE}`.execute(db);
  return rows;
}

async function chargesOf(db: Db, balance: string) {
  const rows = await db
    .selectFrom('charges')
    .select(['run_id', 'state', 'price_lamports'])
    .where('balance_address', '=', balance)
    .execute();
  return new Map(rows.map((row) => [row.run_id, row]));
}
