import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type Marketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { descendants, stillRunning } from '../support/processes/processes.js';
import { balanceOnChain, newRenter, rentOverHttp, type Renter } from '../support/renter.js';

let stateDir: string;
let running: OwnMarketplace | undefined;

beforeAll(async () => {
  stateDir = await newStateDir();
});

afterAll(async () => {
  await running?.stop();
  await removeStateDir(stateDir);
});

/** The balance by both endpoints of the API. */
async function balancesInApi(marketplace: Marketplace, { token }: Renter): Promise<unknown[]> {
  const { id } = marketplace.listing('per_query');
  const [list, verified] = await Promise.all([
    call(marketplace, 'GET', '/v1/credentials', { token }),
    call(marketplace, 'GET', `/v1/credentials/${id}`, { token }),
  ]);
  const [credential] = list.body['credentials'] as Record<string, unknown>[];
  return [credential?.['balance_lamports'], verified.body['balance_lamports']];
}

test(
  'a kill -9 during runs loses no money and leaves no process [MON-1, OPS-6]',
  { timeout: 120_000 },
  async () => {
    const first = (running = await startMarketplace(stateDir));
    const renter = await newRenter(first);
    await rentOverHttp(first, renter, 'per_query');
    const before = await balanceOnChain(first, renter.wallet.publicKey);
    const { body: listing } = await call(
      first,
      'GET',
      `/v1/listings/${first.listing('per_query').id}`,
      renter,
    );
    const price = BigInt(listing['price_lamports'] as number);

    const body = await first.request('per_query');
    const runs = Array.from({ length: 8 }, () =>
      call(first, 'POST', '/v1/execute', { token: renter.token, body }),
    );
    // The first answer is the moment at which the others are under way.
    await Promise.race(runs);
    const children = await descendants(first.process.pid ?? 0);
    expect(children.length).toBeGreaterThan(3);
    await first.kill();
    const answered = (await Promise.allSettled(runs)).filter((run) => run.status === 'fulfilled');
    const delivered = BigInt(answered.length);

    const second = (running = await startMarketplace(stateDir));
    expect(await stillRunning(children)).toEqual([]);
    const spent = before - (await balanceOnChain(second, renter.wallet.publicKey));
    // Every delivered run was paid. The other charges are a whole number of runs, each charged at most once.
    expect(spent % price).toBe(0n);
    expect(spent).toBeGreaterThanOrEqual(delivered * price);
    expect(spent).toBeLessThanOrEqual(8n * price);
    await expect
      .poll(
        async () => {
          const onChain = Number(await balanceOnChain(second, renter.wallet.publicKey));
          return (await balancesInApi(second, renter)).every((balance) => balance === onChain);
        },
        { timeout: 20_000 },
      )
      .toBe(true);

    const { body: again } = await call(second, 'POST', '/v1/execute', { token: renter.token, body });
    expect(again).toMatchObject({ status: 'completed' });
  },
);
