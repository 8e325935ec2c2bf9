import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../testing/index.js';
import { createGiveUps } from './give-ups.js';

let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

it('what one replica learned of a caller the others know, the last eight times of a day [ADP-19]', async () => {
  const [here, there] = [createGiveUps(database.db), createGiveUps(database.db)];
  for (let count = 1; count <= 10; count += 1) await here('key:a').record(count * 1_000 + 0.4);
  const recent = await there('key:a').recent();
  expect(recent.map(({ elapsedMs }) => elapsedMs)).toEqual(
    [10, 9, 8, 7, 6, 5, 4, 3].map((count) => count * 1_000),
  );
  expect(recent.every(({ agoMs }) => agoMs >= 0 && agoMs < 60_000)).toBe(true);
  expect(await there('key:b').recent()).toEqual([]);
  const { count } = await database.db
    .selectFrom('call_give_ups')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(8);
  await database.db
    .updateTable('call_give_ups')
    .set({ given_up_at: new Date(Date.now() - 25 * 3_600_000) })
    .execute();
  expect(await there('key:a').recent()).toEqual([]);
});

it('a call that follows at once knows of a time that is still being written [ADP-19]', async () => {
  const giveUps = createGiveUps(database.db);
  const recent = await database.db.transaction().execute(async (other) => {
    // Writers wait for this transaction, readers do not.
    await sql`lock table call_give_ups in share row exclusive mode`.execute(other);
    const written = giveUps('key:c').record(3_600);
    const asked = giveUps('key:c').recent();
    expect(await Promise.race([asked, giveUps('key:d').recent()])).toEqual([]);
    return { asked, written };
  });
  expect((await recent.asked).map(({ elapsedMs }) => elapsedMs)).toEqual([3_600]);
  await recent.written;
});
