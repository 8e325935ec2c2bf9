import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Pool } from 'pg';
import { until } from '@agent-rental/test/support/timing/until';
import type { Sheet } from '../report.js';
import type { GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

/** The longest time to settle landed charges, in seconds. */
const DRAIN_SECONDS = 20;
/** The most signatures in one status call of the RPC. */
const TRANSACTIONS = 256;
const STUCK = 200;
const BEHIND_STUCK = 100;
const BEHIND_STUCK_SECONDS = 10;
const LONGEST_MS = 900_000;
const FINALITY_MS = 60_000;
/** A block height that no chain reaches, so that unseen transactions never expire. */
const NEVER_EXPIRES = '9000000000000000';

/** Measures how a server settles landed charges, alone and behind stuck charges. */
export async function measureSettling(
  { server, parts: { pool } }: GrownMarket,
  { landed }: Sizes,
  signatures: readonly string[],
  sheet: Sheet,
): Promise<void> {
  await untilFinal(new Connection(server.dev.rpc_url, 'confirmed'), signatures);
  const settled = async (count: number): Promise<number> => {
    await addCharges(pool, count, signatures);
    const startedAt = performance.now();
    await makeDue(pool);
    await until(async () => (await openCharges(pool, signatures)) === 0, LONGEST_MS, 50);
    return (performance.now() - startedAt) / 1_000;
  };
  const drained = await settled(landed);
  sheet.add({ what: `${landed} landed charges settled`, total_s: drained, per_s: landed / drained });
  sheet.atMost(`${landed} landed charges, seconds until settled`, drained, DRAIN_SECONDS, 's');

  const unseen = Array.from({ length: STUCK }, unseenTransaction);
  await addCharges(
    pool,
    STUCK,
    unseen.map(({ signature }) => signature),
    unseen[0]?.signedBytes,
  );
  await makeDue(pool);
  const behind = await settled(BEHIND_STUCK);
  const what = `${BEHIND_STUCK} landed charges settled behind ${STUCK} stuck ones`;
  sheet.add({ what, total_s: behind });
  sheet.atMost(`${what}, seconds`, behind, BEHIND_STUCK_SECONDS, 's');
  await pool.query(
    `with gone as (delete from charge_signatures where last_valid_block_height = ${NEVER_EXPIRES} returning run_id)
      update charges set state = 'finalized' where run_id in (select run_id from gone) and state in ('signed', 'confirmed')`,
  );
}

/** Makes transactions for charges. They become final during other measurements. @returns their signatures. */
export async function landTransactions({ server }: GrownMarket): Promise<string[]> {
  const connection = new Connection(server.dev.rpc_url, 'confirmed');
  return Promise.all(
    Array.from({ length: TRANSACTIONS }, () =>
      connection.requestAirdrop(Keypair.generate().publicKey, LAMPORTS_PER_SOL),
    ),
  );
}

async function untilFinal(connection: Connection, signatures: readonly string[]): Promise<void> {
  await until(async () => {
    const { value } = await connection.getSignatureStatuses([...signatures]);
    return value.every((status) => status?.confirmationStatus === 'finalized');
  }, FINALITY_MS);
}

/** Makes a transaction that no chain has seen, and that none accepts. */
function unseenTransaction(): { signature: string; signedBytes: Buffer } {
  const payer = Keypair.generate();
  const recentBlockhash = Keypair.generate().publicKey.toBase58();
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash });
  transaction.add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 }),
  );
  transaction.sign(payer);
  return {
    signature: bs58.encode(transaction.signature ?? Buffer.alloc(0)),
    signedBytes: transaction.serialize(),
  };
}

/** Adds a charge to each of some uncharged runs, with these transactions in turns. The charges are due later. */
async function addCharges(
  pool: Pool,
  count: number,
  signatures: readonly string[],
  signedBytes: Buffer = Buffer.alloc(1),
): Promise<void> {
  await pool.query(
    `with chosen as (
        select runs.id, runs.wallet, runs.listing_id, row_number() over () as n from runs
        where status = 'completed' and not exists (select from charges where charges.run_id = runs.id) limit $1),
      added as (
        insert into charges (run_id, wallet, listing_id, balance_address, price_lamports, sequence, state, next_attempt_at)
        select id, wallet, listing_id, 'A' || left(translate(md5(wallet) || md5(id::text), '0', 'z'), 42), 1000, n, 'signed',
          now() + interval '1 hour' from chosen)
      insert into charge_signatures (signature, run_id, signed_bytes, last_valid_block_height)
      select ($2::text[])[1 + n % $3], id, $4, ${NEVER_EXPIRES} from chosen`,
    [count, signatures, signatures.length, signedBytes],
  );
  await pool.query('analyze charges, charge_signatures');
}

async function makeDue(pool: Pool): Promise<void> {
  await pool.query(
    `update charges set next_attempt_at = now()
      where state in ('signed', 'confirmed') and next_attempt_at > now() + interval '30 minutes'`,
  );
}

/** Counts the unsettled charges of these transactions. */
async function openCharges(pool: Pool, signatures: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count from charges where state in ('signed', 'confirmed') and exists (
      select from charge_signatures where charge_signatures.run_id = charges.run_id and signature = any ($1))`,
    [signatures],
  );
  return rows[0]?.count ?? 0;
}
