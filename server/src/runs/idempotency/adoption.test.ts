import { setTimeout as delay } from 'node:timers/promises';
import { ADOPTION_MINUTES } from '@agent-rental/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet, openTestDatabase, type TemporaryDatabase } from '../../testing/index.js';
import { beginAdoption } from './adoption.js';
import {
  ask,
  finish,
  never,
  newTask as newTaskIn,
  openReplica,
  patient,
  resultOf,
  type Replica,
} from './replicas.test-support.js';

let database: TemporaryDatabase;
let here: Replica;
let there: Replica;
beforeAll(async () => {
  database = await openTestDatabase();
  here = await openReplica(database.url);
  there = await openReplica(database.url);
});
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
  await database.close();
});

const newTask = (key: string | undefined, wallet?: string) => newTaskIn(database.db, key, wallet);

describe('a run whose answer was not delivered', () => {
  /** An equal request under a key of its own, as a client without stable call ids sends it. */
  const leftRun = async (end: boolean) => {
    const { first, again, wallet } = await newTask('mcp-1');
    await ask(here, first);
    if (end) await finish(here, first);
    await here.deliveryTracking.leave(first.runId, true);
    return { first, next: () => again({}, `mcp-${Math.random()}`), again, wallet };
  };

  it.each([true, false])(
    'is taken over by an equal request, once (already finished: %s) [RUN-7]',
    async (finished) => {
      const { first, next } = await leftRun(finished);
      const adopted = await Promise.all(
        [here, there].map((replica) => replica.deliveryTracking.adopt(next())),
      );
      expect(adopted.filter((runId) => runId !== undefined)).toEqual([first.runId]);
      const answer = there.waitingCallers.join(first.runId, first.wallet, patient);
      if (!finished) await finish(here, first);
      expect(await answer).toEqual(resultOf(first));
    },
  );

  it('is taken over once the only server starts again that was killed while it answered [OPS-98]', async () => {
    const { first, again } = await newTask('mcp-1');
    await ask(here, first);
    await finish(here, first);
    const next = () => again({}, `mcp-${Math.random()}`);
    expect(await there.deliveryTracking.adopt(next())).toBeUndefined();
    await there.deliveryTracking.leaveAll();
    expect(await there.deliveryTracking.adopt(next())).toBe(first.runId);
  });

  it('is taken over also while its own work refers to it, as a charge that is being written down does', async () => {
    const { first, next } = await leftRun(false);
    const adopted = await database.db.transaction().execute(async (tx) => {
      await tx.selectFrom('runs').select('id').where('id', '=', first.runId).forKeyShare().execute();
      return there.deliveryTracking.adopt(next());
    });
    expect(adopted).toBe(first.runId);
  });

  it('each goes to one of the callers that ask at once', async () => {
    const { first, again } = await leftRun(true);
    const second = again({}, 'mcp-second');
    await ask(here, second);
    await here.deliveryTracking.leave(second.runId, true);
    const callers = Array.from({ length: 6 }, (_, index) => again({}, `mcp-late-${index}`));
    const adopted = await Promise.all(
      callers.map((task, index) => (index % 2 === 0 ? here : there).deliveryTracking.adopt(task)),
    );
    expect(adopted.filter((runId) => runId !== undefined).toSorted()).toEqual(
      [first.runId, second.runId].toSorted(),
    );
  });

  it('is not taken over once its answer was delivered [RUN-8]', async () => {
    const { first, next, wallet } = await leftRun(true);
    expect(await there.pastRuns.find(first.runId, wallet, 0, never)).toMatchObject({ status: 'completed' });
    expect(await here.deliveryTracking.adopt(next())).toBeUndefined();
  });

  it('is not taken over by another request, another wallet, or after its minutes are over', async () => {
    const { first, again, next } = await leftRun(true);
    expect(await here.deliveryTracking.adopt(again({ task: 'Something else.' }, 'k'))).toBeUndefined();
    expect(await here.deliveryTracking.adopt({ ...next(), wallet: newWallet() })).toBeUndefined();
    const leftBefore = (ms: number) =>
      database.db
        .updateTable('runs')
        .set({ left_at: new Date(Date.now() - ms) })
        .where('id', '=', first.runId)
        .execute();
    await leftBefore(ADOPTION_MINUTES * 60_000 + 1);
    expect(await here.deliveryTracking.adopt(next())).toBeUndefined();
    await leftBefore(ADOPTION_MINUTES * 60_000 - 30_000);
    expect(await here.deliveryTracking.adopt(next())).toBe(first.runId);
  });

  it('is left alone while its caller still waits [RUN-8]', async () => {
    const { first, again } = await newTask('mcp-2');
    await ask(here, first);
    expect(await here.deliveryTracking.adopt(again({}, 'mcp-3'))).toBeUndefined();
  });
});

describe('an equal request that comes while the caller of the first may be about to be gone', () => {
  const PATIENT_MS = 60_000;
  const twoCallers = async (departureMs = PATIENT_MS, beganSeconds = 3) => {
    const { first, again } = await newTask('retry-1');
    const second = again({}, 'retry-2');
    await ask(here, first);
    await database.db
      .updateTable('runs')
      .set({ created_at: new Date(Date.now() - beganSeconds * 1_000) })
      .where('id', '=', first.runId)
      .execute();
    return { first, second, adoption: beginAdoption(there.deliveryTracking, second, departureMs) };
  };

  it('takes its run over as soon as the departure is noted, on another replica [RUN-7]', async () => {
    const { first, adoption } = await twoCallers();
    const found = adoption.find(never);
    await here.deliveryTracking.leave(first.runId, false);
    expect(await found).toBe(first.runId);
  });

  it('takes it over also when its end came first, and then the news that it did not arrive [RUN-7]', async () => {
    const { first, adoption } = await twoCallers();
    const found = adoption.find(never);
    await finish(here, first);
    await here.waitingCallers.lost(first.runId);
    expect(await found).toBe(first.runId);
  });

  it('is a run of its own as soon as the first answer is delivered [RUN-8]', async () => {
    const { first, second, adoption } = await twoCallers();
    const found = adoption.find(never);
    await finish(here, first);
    await here.deliveryTracking.delivered(first.runId);
    expect(await found).toBeUndefined();
    expect(await there.idempotency.begin(second, { adoption })).toBeDefined();
  });

  it('is a run of its own after a moment, when the first caller stays [RUN-8]', async () => {
    const { second, adoption } = await twoCallers(50);
    expect(await adoption.find(never)).toBeUndefined();
    expect(await there.idempotency.begin(second, { adoption })).toBeDefined();
  });

  it('waits for no departure when the two began together, but for one that is noted at once [RUN-8]', async () => {
    const together = await twoCallers(PATIENT_MS, 0);
    const startedAt = performance.now();
    expect(await together.adoption.find(never)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(await there.idempotency.begin(together.second, { adoption: together.adoption })).toBeDefined();
    const broken = await twoCallers(PATIENT_MS, 0);
    const found = broken.adoption.find(never);
    await here.deliveryTracking.leave(broken.first.runId, false);
    expect(await found).toBe(broken.first.runId);
  });

  it('waits for the departure of one that began a second before: a broken connection may be noticed late [RUN-7]', async () => {
    const { first, adoption } = await twoCallers(PATIENT_MS, 1);
    const found = adoption.find(never);
    // Longer than a call waits for one that began at the same moment.
    await delay(300);
    await here.deliveryTracking.leave(first.runId, false);
    expect(await found).toBe(first.runId);
  });

  it('waits for no departure when its own caller goes', async () => {
    const { adoption } = await twoCallers();
    await expect(adoption.find(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  it('begins nothing beside the other, whichever of the two is written down first [RUN-7]', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { again } = await newTask(`retry-race-${round}`);
      const tasks = [again(), again({}, `retry-race-again-${round}`)];
      const begun = await Promise.all(
        tasks.map((task, index) => {
          const replica = index === 0 ? here : there;
          return replica.idempotency.begin(task, { adoption: beginAdoption(replica.deliveryTracking, task) });
        }),
      );
      expect(begun.filter(Boolean)).toHaveLength(1);
    }
  });

  it('begins nothing when the other was left between its look and its beginning [RUN-7]', async () => {
    const { first, second, adoption } = await twoCallers(50);
    expect(await adoption.find(never)).toBeUndefined();
    await here.deliveryTracking.leave(first.runId, true);
    expect(await there.idempotency.begin(second, { adoption })).toBeUndefined();
    expect(await adoption.find(never)).toBe(first.runId);
  });

  it('does not wait for a server that ended before it knew whether its answer arrived', async () => {
    const { first, adoption } = await twoCallers();
    await finish(here, first);
    await database.db
      .updateTable('runs')
      .set({ finished_at: new Date(Date.now() - 60_001) })
      .where('id', '=', first.runId)
      .execute();
    expect(await adoption.find(never)).toBeUndefined();
  });
});
