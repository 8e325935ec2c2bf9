import { afterEach, describe, expect, test } from 'vitest';
import { call } from '../support/http.js';
import { newStateDir, removeStateDir } from '../support/marketplace.js';
import { hasRedis } from '../support/processes/redis.js';
import { runToEnd } from '../support/processes/run-to-end.js';
import { makeNextRelease, NEXT_MIGRATION, type NextRelease } from '../support/replicas/next-release.js';
import type { Replica } from '../support/replicas/replica.js';
import { ReplicaMarket } from '../support/replicas/replica-market.js';

describe.runIf(hasRedis)('a release whose successor has migrated the database', () => {
  let market: ReplicaMarket | undefined;
  let next: NextRelease | undefined;
  afterEach(async () => {
    await market?.close();
    await next?.remove();
  }, 60_000);

  /** A replica of this release, and then one of the next. */
  async function beside(statements: readonly string[], needs?: string): Promise<[ReplicaMarket, Replica]> {
    next = await makeNextRelease(statements, needs);
    market = await ReplicaMarket.open({ replicas: 1 });
    const [own] = market.replicas as [Replica];
    await market.add(next.serverFolder);
    return [market, own];
  }

  test('goes on where the migration adds alone, and can be started again [OPS-93]', async () => {
    const [running, own] = await beside(['create table things (id uuid primary key)']);
    const isReady = async (replica: Replica) =>
      expect((await call(replica, 'GET', '/ready')).body).toMatchObject({ status: 'ready', reasons: [] });
    const textOfFunction = () => running.query(`select sha256 from sql_functions where name = 'may_credit'`);
    await isReady(own);
    const newer = await textOfFunction();
    await own.kill();
    await isReady(await running.add());
    expect(await textOfFunction()).toEqual(newer);
  }, 120_000);

  test('is not ready any more where it took away what this one needs, and is refused at the start in one line [OPS-94]', async () => {
    const [running, own] = await beside(['drop table content_blocks'], NEXT_MIGRATION);
    await expect
      .poll(async () => (await call(own, 'GET', '/ready')).body, { timeout: 15_000 })
      .toMatchObject({ status: 'not_ready', reasons: ['migrations'] });
    const stateDir = await newStateDir();
    const { code, stderr } = await runToEnd(stateDir, running.env);
    await removeStateDir(stateDir);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        `^The database was changed by release ${next?.version} so that this one, .* Start release ${next?.version} or a newer one`,
      ),
    ]);
    expect(code).toBe(1);
  }, 120_000);
});
