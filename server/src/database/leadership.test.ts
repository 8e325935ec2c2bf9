import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openEmptyDatabase, type TemporaryDatabase } from '../testing/index.js';
import { openDatabase, type OpenDatabase } from './connection.js';
import { openLeadership, type Leadership } from './leadership.js';

const logger = pino({ level: 'silent' });
let temporary: TemporaryDatabase;
let database: OpenDatabase;
const opened: Leadership[] = [];

beforeAll(async () => {
  temporary = await openEmptyDatabase();
  database = openDatabase(temporary.url, () => undefined);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  await database.close();
  await temporary.close();
});

/** A replica that notes when its work begins and ends. */
async function openReplica(name: string, log: string[], endsAfter: Promise<unknown> = Promise.resolve()) {
  const leadership = await openLeadership(database.pool, logger);
  opened.push(leadership);
  leadership.lead(() => {
    log.push(`${name} begins`);
    return {
      async stop() {
        await endsAfter;
        log.push(`${name} ends`);
      },
    };
  });
  return leadership;
}

const sessions = async () => {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and granted and database =
      (select oid from pg_database where datname = current_database())`,
  );
  return rows.map(({ pid }) => pid);
};

it('one of several works, and the next one once its last round has ended, at once', async () => {
  const log: string[] = [];
  let finish = (): void => undefined;
  const first = await openReplica('first', log, new Promise<void>((resolve) => (finish = resolve)));
  const others = [await openReplica('second', log), await openReplica('third', log)];
  expect([first, ...others].map((one) => one.isLeader())).toEqual([true, false, false]);
  await expect.poll(() => log).toEqual(['first begins']);
  const closing = first.close();
  // Longer than the time between two attempts: the lock is held while the round goes on.
  await delay(1_500);
  expect(log).toEqual(['first begins']);
  finish();
  const freedAt = performance.now();
  await closing;
  await expect.poll(() => log, { interval: 10 }).toHaveLength(3);
  expect(log.slice(0, 2)).toEqual(['first begins', 'first ends']);
  expect(['second begins', 'third begins']).toContain(log[2]);
  // It was told, and did not wait for its next attempt.
  expect(performance.now() - freedAt).toBeLessThan(700);
  expect(await sessions()).toHaveLength(1);
});

it('a leader whose session is ended stops, and one leads again', async () => {
  const log: string[] = [];
  const first = await openReplica('first', log);
  const second = await openReplica('second', log);
  await expect.poll(() => log).toEqual(['first begins']);
  const [pid] = await sessions();
  await database.pool.query('select pg_terminate_backend($1)', [pid]);
  await expect.poll(() => log, { timeout: 5_000 }).toEqual(expect.arrayContaining(['first ends']));
  await expect.poll(() => log.length, { timeout: 5_000 }).toBe(3);
  expect([first, second].filter((one) => one.isLeader())).toHaveLength(1);
  expect(await sessions()).toHaveLength(1);
});

it('every replica hears the leader’s news, also after its session was ended', async () => {
  const heard: string[] = [];
  const leader = await openReplica('first', []);
  const other = await openReplica('second', []);
  other.subscribe((news) => heard.push(news));
  await leader.tell('1.5');
  await expect.poll(() => heard).toEqual(['1.5']);
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'agent-rental-leadership' and datname = current_database()`,
  );
  await expect.poll(() => leader.isLeader() || other.isLeader(), { timeout: 5_000 }).toBe(true);
  await expect
    .poll(
      async () => {
        await leader.tell('2.5').catch(() => undefined);
        return heard;
      },
      { timeout: 5_000 },
    )
    .toContain('2.5');
});

it('no replica waits for the lock in a statement, which would hold a snapshot', async () => {
  await openReplica('first', []);
  await openReplica('second', []);
  for (let look = 0; look < 5; look += 1) {
    const { rows } = await database.pool.query(
      `select pid from pg_stat_activity where application_name = 'agent-rental-leadership'
        and datname = current_database() and (wait_event_type = 'Lock' or backend_xmin is not null)`,
    );
    expect(rows).toEqual([]);
    await delay(50);
  }
});
