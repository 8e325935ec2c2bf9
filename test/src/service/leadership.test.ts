import { randomUUID } from 'node:crypto';
import { openEmptyDatabase, type TemporaryDatabase } from '@agent-rental/server/testing';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type OwnServer } from '../support/marketplace.js';
import { hasRedis, startRedis, type OwnRedis } from '../support/processes/redis.js';
import { METRICS_TOKEN, startReplicas, type Replicas } from '../support/processes/replicas.js';

/** Within this time another replica leads. */
const TAKEN_OVER_MS = 5_000;
/** The index is level again within this time of that. */
const LEVEL_SECONDS = 5;

describe.runIf(hasRedis)('of three servers on one database', () => {
  let database: TemporaryDatabase;
  let redis: OwnRedis;
  let replicas: Replicas;
  let pool: pg.Pool;
  const ended = new Set<OwnServer>();

  beforeAll(async () => {
    const chain = await attach(inject('stateDir'));
    database = await openEmptyDatabase();
    redis = await startRedis();
    replicas = await startReplicas(3, chain, { databaseUrl: database.url, redisUrl: redis.url });
    pool = new pg.Pool({ connectionString: database.url });
  }, 180_000);
  afterAll(async () => {
    await pool?.end();
    await replicas?.stop();
    await redis?.kill();
    await database?.close();
  }, 60_000);

  /** The metrics of a server; undefined where it does not answer. */
  async function metricsOf(server: OwnServer) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), 1_000);
    const text = await fetch(`${server.dev.base_url}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
      signal: late.signal,
    })
      .then((response) => response.text())
      .catch(() => undefined);
    clearTimeout(timer);
    const read = (name: string) =>
      Number(new RegExp(`^agent_rental_${name} (\\S+)$`, 'm').exec(text ?? '')?.[1]);
    return text === undefined
      ? undefined
      : { leads: read('leader') === 1, indexAge: read('index_age_seconds') };
  }

  const running = () => replicas.servers.filter((server) => !ended.has(server));
  async function leaders(servers = running()): Promise<OwnServer[]> {
    const all = await Promise.all(servers.map(async (server) => ({ server, ...(await metricsOf(server)) })));
    return all.filter(({ leads }) => leads === true).map(({ server }) => server);
  }
  async function leader(): Promise<OwnServer> {
    await expect.poll(async () => (await leaders()).length, { timeout: TAKEN_OVER_MS }).toBe(1);
    return (await leaders())[0] as OwnServer;
  }
  /** Expects that each running server sees an up-to-date index. */
  async function expectLevel(): Promise<void> {
    for (const server of running()) {
      await expect
        .poll(async () => (await metricsOf(server))?.indexAge, { timeout: 10_000 })
        .toSatisfy((age) => Number(age) >= 0 && Number(age) < LEVEL_SECONDS);
    }
  }

  /** Adds a task in the state that a process leaves when it is killed while it works. The kill was eleven minutes ago. */
  async function abandonTask(task: string, payload: Record<string, string>): Promise<void> {
    // Not due yet: no server takes it before it is marked.
    const { rows } = await pool.query<{ id: string }>(
      "select id from graphile_worker.add_job($1, $2::json, run_at := now() + interval '1 hour')",
      [task, payload],
    );
    await pool.query(
      `update graphile_worker._private_jobs set run_at = now(), locked_by = 'gone',
        locked_at = now() - interval '11 minutes' where id = $1`,
      [rows[0]?.id],
    );
  }
  async function waitingTasks(task: string): Promise<number> {
    const { rows } = await pool.query<{ tasks: string }>(
      'select count(*) as tasks from graphile_worker.jobs where task_identifier = $1',
      [task],
    );
    return Number(rows[0]?.tasks);
  }

  test('one leads, and the others hear that the index is level [OPS-50]', async () => {
    await leader();
    await expectLevel();
    const { rows } = await pool.query(
      `select pid from pg_locks where locktype = 'advisory' and granted and database =
        (select oid from pg_database where datname = current_database())
        and pid in (select pid from pg_stat_activity where application_name = 'agent-rental-leadership')`,
    );
    expect(rows).toHaveLength(1);
  });

  test('another one leads within 5 s after the session of the leader is ended [OPS-50]', async () => {
    await leader();
    await pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
        and pid in (select pid from pg_stat_activity where application_name = 'agent-rental-leadership')`,
    );
    await leader();
    await expectLevel();
  });

  test('another one leads within 5 s while the leader hangs, and one alone once it goes on [OPS-50]', async () => {
    const hung = await leader();
    const others = running().filter((server) => server !== hung);
    hung.process.kill('SIGSTOP');
    try {
      await expect.poll(async () => (await leaders(others)).length, { timeout: TAKEN_OVER_MS }).toBe(1);
    } finally {
      hung.process.kill('SIGCONT');
    }
    await expect.poll(async () => (await leaders([hung])).length, { timeout: TAKEN_OVER_MS }).toBe(0);
    expect(await leaders()).toHaveLength(1);
    await expectLevel();
  });

  test('another one leads within 5 s after the leader was killed, and the index and abandoned tasks go on [OPS-50, REG-22]', async () => {
    const killed = await leader();
    await abandonTask('validate_registration', { job_id: randomUUID() });
    ended.add(killed);
    await killed.kill();
    await leader();
    await expectLevel();
    await expect.poll(() => waitingTasks('validate_registration')).toBe(0);
  });

  test('a task that removes a replaced secret is worked on when its time has come [REG-20]', async () => {
    await pool.query("select graphile_worker.add_job('end_replaced_secrets', $1::json)", [
      { listing_id: 'agt_none_000000' },
    ]);
    await expect.poll(() => waitingTasks('end_replaced_secrets')).toBe(0);
  });

  test('another one leads once the leader has stopped [OPS-50]', async () => {
    const stopped = await leader();
    ended.add(stopped);
    await stopped.stop();
    await leader();
    await expectLevel();
  });
});
