import { afterAll, expect, it } from 'vitest';
import { enqueueTask, migrateJobs, startJobs } from '../../jobs/jobs.js';
import { createLogger } from '../../platform/logger.js';
import { insertListing, newWallet, openTestDatabase } from '../../testing/index.js';
import { sealPrivatePart } from '../manifest/private-part.js';
import { keys } from '../registration.test-support.js';
import { createRegistrationRepository } from '../repository.js';
import { PROBE_TASK } from './probe-records.js';
import { createProber } from './prober.js';

const database = await openTestDatabase();
afterAll(() => database.close());
await migrateJobs(database.pool);
const repository = createRegistrationRepository(database.db, enqueueTask);

/** A draft whose agent is at that address, and whose probe is asked for. */
async function draft(creator: string, entrypointUrl: string): Promise<string> {
  const { id, version_id } = await insertListing(database.db, { creator, status: 'draft' });
  const part = { mode: 'connected', entrypointUrl, webhookSecret: 'whsec_AAAA', salt: '' } as const;
  await database.db
    .updateTable('agent_versions')
    .set({ private_part: sealPrivatePart(keys, version_id, part) })
    .where('id', '=', version_id)
    .execute();
  await repository.requestProbe(id);
  return id;
}

it('a silent endpoint delays only the probes of its creator [REG-120]', async () => {
  const started: string[] = [];
  let onStarted: () => void = () => undefined;
  let release: () => void = () => undefined;
  const deadline = new Promise<void>((resolve) => (release = resolve));
  const waitForStarts = async (count: number) => {
    while (started.length < count) await new Promise<void>((resolve) => (onStarted = resolve));
    return [...started];
  };
  const silent = newWallet();
  for (let at = 0; at < 5; at += 1) await draft(silent, `silent ${at}`);
  const prober = createProber({
    repository,
    keys,
    probe: async (agent) => {
      const name = agent.mode === 'connected' ? agent.entrypointUrl : '';
      started.push(name);
      onStarted();
      if (name.startsWith('silent')) await deadline;
      return 'reached';
    },
  });
  const jobs = await startJobs(
    database.pool,
    { [PROBE_TASK]: async (payload) => prober.probe((payload as { listing_id: string }).listing_id) },
    createLogger('silent'),
    { concurrency: 4 },
  );
  await waitForStarts(1);
  const honest = await Promise.all(Array.from({ length: 6 }, (_, at) => draft(newWallet(), `honest ${at}`)));
  const all = await waitForStarts(7);
  expect(all.filter((name) => name.startsWith('silent'))).toEqual(['silent 0']);
  release();
  await waitForStarts(11);
  await jobs.stop();
  for (const id of honest)
    expect(await repository.findProbe(id)).toMatchObject({ requested_at: null, reason: null });
});

it('a probe that is asked for twice is made once', async () => {
  const id = await draft(newWallet(), 'once');
  await repository.requestProbe(id);
  const { rows } = await database.pool.query<{ waiting: bigint }>(
    `select count(*) as waiting from graphile_worker.jobs where key = $1`,
    [`probe:${id}`],
  );
  expect(Number(rows[0]?.waiting)).toBe(1);
});
