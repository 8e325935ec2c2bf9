import { openRestartableDatabase } from '@agent-rental/server/testing';
import { FaultMarket, type Listing, type Rental } from '../world/market.js';
import { newRequest, PLAIN_RUN, prepare, send, STREAMED_RUN } from '../world/scenarios.js';
import { verify, type Played, type Verified } from '../world/verify.js';

export interface DatabaseRestartsReport extends Verified {
  runs: number;
  restarts: number;
}

/** Kills PostgreSQL (SIGKILL of its postmaster) during runs, and starts it again on the same data. */
export async function runDatabaseRestarts(
  { wallets, restarts }: { wallets: number; restarts: number },
  log: (line: string) => void,
): Promise<DatabaseRestartsReport> {
  const database = await openRestartableDatabase();
  const work = async (market: FaultMarket): Promise<DatabaseRestartsReport> => {
    const treasuryBefore = await market.connection.getBalance(market.treasury);
    const listings = await market.publish(2);
    const played: Played[] = [];
    for (let restart = 0; restart < restarts; restart += 1) {
      const rentals: Rental[] = await market.rentAll(
        Array.from({ length: wallets }, (_, index) => listings[index % listings.length] as Listing),
      );
      const requests = rentals.map((rental, index) =>
        newRequest(index % 2 === 0 ? PLAIN_RUN : STREAMED_RUN, rental),
      );
      for (const request of requests) await prepare(market, request);
      // At the first answer, the other runs are at different steps.
      const answers = requests.map((request) => send(market, request));
      await Promise.race(answers);
      await database.crash();
      market.postgres.retarget(database.url);
      const got = await Promise.all(answers);
      played.push(
        ...requests.map((request, index) => ({
          name: `restart ${restart}`,
          request,
          first: got[index] ?? { hasOutput: false },
        })),
      );
      log(
        `restart ${restart}: ${got.filter(({ status }) => status === 200).length} of ${got.length} were answered`,
      );
    }
    await market.passLeases();
    await market.kill();
    await market.start();
    return { runs: played.length, restarts, ...(await verify(market, played, treasuryBefore)) };
  };
  return FaultMarket.use(work, async () => database);
}
