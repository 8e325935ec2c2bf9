import { revokePerQueryAccess } from '@agent-rental/program-client';
import { BATTERY_CONSENSUS } from '@agent-rental/test/support/replicas/market-chain';
import { until } from '@agent-rental/test/support/timing/until';
import { Connection, Transaction } from '@solana/web3.js';
import { holdBackground } from '../world/lanes.js';
import { accountOf } from '../world/ledger-audit.js';
import { FaultMarket, type Listing } from '../world/market.js';
import { MISBEHAVIOURS } from './misbehaviours.js';
import type { Misbehaviour } from '../proxies/rpc-proxy.js';
import { newRequest, PLAIN_RUN, prepare, send, type RunRequest } from '../world/scenarios.js';
import type { Log } from '../../run-battery.js';
import { settle, verify, type Played } from '../world/verify.js';

interface HostileRpcOptions {
  runs: number;
  /** Names of the misbehaviours to play. Default: all of them. */
  misbehaviours?: readonly string[] | undefined;
  log: Log;
}

/** Makes runs under each misbehaviour of an RPC endpoint, and over forks that drop confirmed charges. */
export const runHostileRpc = (options: HostileRpcOptions) =>
  FaultMarket.use((market) => hostileRpc(market, options));

async function hostileRpc(market: FaultMarket, options: HostileRpcOptions) {
  const { runs, misbehaviours = Object.keys(MISBEHAVIOURS), log } = options;
  const treasuryBefore = await market.connection.getBalance(market.treasury);
  const [listing] = (await market.publish(1)) as [Listing];
  /** Runs under each misbehaviour and in each fork, and their first answers by status. */
  const rows: Record<string, number> = {};
  const answers: Record<string, Record<string, number>> = {};
  const played: Played[] = [];

  const play = async (name: string): Promise<RunRequest[]> => {
    const rentals = await market.rentAll(Array.from({ length: runs }, () => listing));
    const requests = rentals.map((rental) => newRequest(PLAIN_RUN, rental));
    for (const request of requests) await prepare(market, request);
    const spoil = MISBEHAVIOURS[name];
    if (spoil) await misbehave(market, spoil());
    const got = await Promise.all(requests.map((request) => send(market, request)));
    rows[name] = requests.length;
    const counted: Record<string, number> = {};
    for (const { status = 'cut' } of got) counted[status] = (counted[status] ?? 0) + 1;
    answers[name] = counted;
    log(`${name}: ${JSON.stringify(counted)}`);
    played.push(...got.map((first, index) => ({ name, request: requests[index] as RunRequest, first })));
    return requests;
  };

  for (const name of misbehaviours) {
    await play(name);
    market.rpc.misbehave(undefined);
    await settle(market);
  }

  if (BATTERY_CONSENSUS === 'alpenglow') {
    // A final block is never dropped.
    return { rows, answers, lost: 0, ...(await verify(market, played, treasuryBefore)) };
  }
  const resent = await playAndDrop(market, () => play('a fork, and the same bytes land again'));
  await until(async () => {
    await market.query(`update charges set next_attempt_at = now() where next_attempt_at > now()`);
    const accounts = await Promise.all(resent.map(({ rental }) => accountOf(market, rental)));
    return accounts.every(({ landed }) => landed.length === 1);
  });
  await settle(market);
  const signedAnew = () => play('a fork, and the charge is signed anew');
  await playAndDrop(market, signedAnew, () => market.finalize());
  await settle(market);

  // After the rental is revoked, the server can no longer charge the delivered runs.
  const unpaid = await playAndDrop(market, () => play('a fork, and the rental is revoked'), revokeAll);
  await settle(market);
  const verified = await verify(market, played, treasuryBefore);
  // Delivered runs whose charge a fork dropped permanently.
  const isLost = `select from charges where state = 'lost' and wallet = any ($1)`;
  const lost = await market.query(isLost, [unpaid.map(({ rental }) => rental.wallet)]);
  return { rows, answers, lost: lost.length, ...verified };

  async function revokeAll(requests: readonly RunRequest[]): Promise<void> {
    for (const { rental } of requests) {
      const { publicKey: revoker } = listing.creator;
      const buyer = rental.renter.wallet.publicKey;
      const revoked = revokePerQueryAccess({ revoker, buyer, listingId: listing.id });
      // The connection's cached blockhash is too old: the battery has advanced the chain.
      const latest = await market.connection.getLatestBlockhash();
      const transaction = new Transaction({ ...latest, feePayer: revoker }).add(revoked);
      transaction.sign(listing.creator);
      const signature = await market.connection.sendRawTransaction(transaction.serialize());
      await market.connection.confirmTransaction({ signature, ...latest });
    }
  }
}

/** Makes the endpoint misbehave, and advances the chain so that the endpoint's cached values are old. */
async function misbehave(market: FaultMarket, how: Misbehaviour): Promise<void> {
  market.rpc.misbehave(how);
  await new Connection(market.rpc.url, market.connection.commitment)
    .getLatestBlockhash()
    .catch(() => undefined);
  await market.finalize();
  // Until the server's cached blockhash expires.
  await new Promise((resolve) => setTimeout(resolve, BLOCKHASH_KEPT_MS));
}

const BLOCKHASH_KEPT_MS = 5_100;

/**
 * Makes runs, then drops their charges by a fork before the server checks them again.
 *
 * @param meanwhile runs before the server's next check.
 */
async function playAndDrop(
  market: FaultMarket,
  play: () => Promise<RunRequest[]>,
  meanwhile: (requests: readonly RunRequest[]) => Promise<void> = async () => undefined,
): Promise<RunRequest[]> {
  // `cut` and not `hold`: a background round without an answer would never end.
  market.lanes.always = (step) => (holdBackground(step) === undefined ? undefined : 'cut');
  const requests = await play();
  const signatures = await market.query<{ signature: string }>(
    `select distinct signature from charge_signatures join charges using (run_id) where wallet = any ($1)`,
    [requests.map(({ rental }) => rental.wallet)],
  );
  const dropSignatures = signatures.map(({ signature }) => signature);
  // Charges of one listing may share a transaction.
  const dropped = await market.fork(dropSignatures);
  if (dropped !== dropSignatures.length) throw new Error(`The fork dropped ${dropped} charges.`);
  await meanwhile(requests);
  market.lanes.always = () => undefined;
  return requests;
}
