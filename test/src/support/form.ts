import { Random } from './random.js';

/**
 * How much the tests play.
 *
 * - `quick`: `npm test`. Leaves out resilience tests, installed clients, and runs that outlive a client.
 * - `sample`: CI. Plays a random sample of the rows of matrices, and of batteries that guard the same promise.
 * - `full`: `npm run battery -- tests`. Plays every row and every battery.
 */
export type Form = 'quick' | 'sample' | 'full';

/** The form of this run. `vitest.config.ts` sets `TEST_FORM` where it is not given. */
export const FORM = (process.env['TEST_FORM'] ?? 'quick') as Form;

/** Whether slow tests are left out. */
export const IS_QUICK = FORM === 'quick';

/** Seed of every sample in this run. `vitest.config.ts` sets `TEST_SEED` where it is not given, and prints it. */
export const SEED = Number(process.env['TEST_SEED'] ?? 1);

/** A random sample of the items, in their order. The full form takes all of them. */
export function sampleOf<T>(items: readonly T[], count: number, seed = SEED): T[] {
  if (FORM === 'full' || items.length <= count) return [...items];
  const random = new Random(seed);
  const left = items.map((_, index) => index);
  const taken = new Set<number>();
  while (taken.size < count) taken.add(...(left.splice(random.below(left.length), 1) as [number]));
  return items.filter((_, index) => taken.has(index));
}
