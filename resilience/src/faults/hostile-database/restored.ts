import { until } from '@agent-rental/test/support/timing/until';
import { inMaintenance } from '../world/maintenance.js';
import { holdBackground } from '../world/lanes.js';
import { accountOf, isPaid } from '../world/ledger-audit.js';
import { FaultMarket, RUN_PRICE, type Listing, type Rental } from '../world/market.js';
import { newRequest, PLAIN_RUN, prepare, repeat, send, type RunRequest } from '../world/scenarios.js';
import type { Log } from '../../run-battery.js';
import { settle } from '../world/verify.js';

/**
 * Restores a copy of the database that is older than the chain. Every wallet has one run that was active during the copy, and
 * later runs that were charged.
 */
export const runRestoredDatabase = (wallets: number, log: Log) =>
  FaultMarket.use((market) => restoredDatabase(market, wallets, log));

async function restoredDatabase(market: FaultMarket, wallets: number, log: Log) {
  const [listing] = (await market.publish(1)) as [Listing];
  const rentals = await market.rentAll(Array.from({ length: wallets }, () => listing));
  const broken: string[] = [];
  const ask = async (requests: readonly RunRequest[]) => {
    for (const request of requests) await prepare(market, request);
    return Promise.all(requests.map((request) => repeat(market, request)));
  };
  const requestsFor = () => rentals.map((rental) => newRequest(PLAIN_RUN, rental));
  await ask(requestsFor());

  // The copy has charges without a known result.
  const underWay = requestsFor();
  market.lanes.always = (step) =>
    holdBackground(step) ?? (step.name === 'getSignatureStatuses' ? 'refuse' : undefined);
  for (const request of underWay) await prepare(market, request);
  const cut = underWay.map((request) => send(market, request));
  const signed = `select from charges where state = 'signed'`;
  await until(async () => (await market.query(signed)).length === wallets);
  await market.kill();
  await Promise.all(cut);
  market.lanes.always = () => undefined;
  await inMaintenance(market.database.url, (name) => [`create database ${name}_copy template ${name}`]);
  log('copied');

  await market.start();
  await ask(underWay);
  await settle(market);
  await ask(requestsFor());
  await ask(requestsFor());
  await settle(market);
  const before = await Promise.all(rentals.map((rental) => accountOf(market, rental)));
  const landedBefore = before.flatMap(({ landed }) => landed).length;
  await market.kill();
  await inMaintenance(market.database.url, (name) => [
    `drop database ${name}`,
    `alter database ${name}_copy rename to ${name}`,
  ]);
  log('restored');

  await market.passLeases();
  await market.start();
  await settle(market);
  const known = await market.query<{ run_id: string }>('select run_id from charges');
  // The interrupted runs get their answer. New runs are charged with sequences that are new to the chain.
  for (const { status, body } of await ask(underWay))
    if (status !== 200) broken.push(`an interrupted run was answered ${status}: ${JSON.stringify(body)}`);
  for (const { status, body } of await ask(requestsFor()))
    if (status !== 200 || body?.['cost_lamports'] !== Number(RUN_PRICE))
      broken.push(`a run after the restore was answered ${status}: ${JSON.stringify(body)}`);
  await settle(market);
  const after = await Promise.all(rentals.map((rental) => accountOf(market, rental)));
  for (const [index, { landed, debitedLamports, runs }] of after.entries()) {
    const rental = rentals[index] as Rental;
    if (new Set(landed.map(({ runId }) => runId)).size !== landed.length)
      broken.push(`${rental.wallet}: charged twice`);
    if (debitedLamports !== BigInt(landed.length) * RUN_PRICE)
      broken.push(`${rental.wallet}: ${debitedLamports} lamports`);
    const more = landed.length - (before[index]?.landed.length ?? 0);
    // Only the new run is charged: the server sees that the interrupted run is paid.
    if (more !== 1) broken.push(`${rental.wallet}: ${more} charges since the restore`);
    for (const run of runs) {
      const hasLanded = landed.some(({ runId }) => runId === run.id);
      if (run.state !== null && hasLanded !== isPaid(run))
        broken.push(`${rental.wallet}: the charge of run ${run.id} is ${run.state}, on-chain ${hasLanded}`);
    }
  }
  const landedAfter = after.flatMap(({ landed }) => landed).length;
  return {
    wallets,
    /** Charges on the chain that the restored database does not have. */
    forgotten: landedBefore - known.length,
    charged: landedAfter - landedBefore,
    broken,
  };
}
