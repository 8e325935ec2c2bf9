import { openRestartableDatabase } from '@agent-rental/server/testing';
import { FaultMarket, type Listing } from '../world/market.js';
import { newRequest, PLAIN_RUN, prepare, send, STREAMED_RUN, type RunRequest } from '../world/scenarios.js';
import type { Log } from '../../run-battery.js';
import { verify, type Played } from '../world/verify.js';

/** Kills PostgreSQL (SIGKILL of its postmaster) during runs, and starts it again on the same data. */
export async function runDatabaseRestarts(
  { wallets, restarts }: { wallets: number; restarts: number },
  log: Log,
) {
  const database = await openRestartableDatabase();
  const work = async (market: FaultMarket) => {
    const treasuryBefore = await market.connection.getBalance(market.treasury);
    const listings = await market.publish(2);
    const played: Played[] = [];
    for (let restart = 0; restart < restarts; restart += 1) {
      const some = Array.from(
        { length: wallets },
        (_, index) => listings[index % listings.length] as Listing,
      );
      const requests = (await market.rentAll(some)).map((rental, index) =>
        newRequest(index % 2 === 0 ? PLAIN_RUN : STREAMED_RUN, rental),
      );
      for (const request of requests) await prepare(market, request);
      // At the first answer, the other runs are at different steps.
      const answers = requests.map((request) => send(market, request));
      await Promise.race(answers);
      await database.crash();
      market.postgres.retarget(database.url);
      const got = await Promise.all(answers);
      const name = `restart ${restart}`;
      played.push(...got.map((first, index) => ({ name, request: requests[index] as RunRequest, first })));
      log(`${name}: ${got.filter(({ status }) => status === 200).length} of ${got.length} were answered`);
    }
    await market.passLeases();
    await market.kill();
    await market.start();
    return { runs: played.length, restarts, ...(await verify(market, played, treasuryBefore)) };
  };
  return FaultMarket.use(work, async () => database);
}
