import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { openTestDatabase, type TemporaryDatabase } from '../../testing/index.js';
import { violationsOf, type Mutation, type Step } from './money-model.test-support.js';
import type { MoneyParts } from './paid-run.test-support.js';

const FORM = process.env['TEST_FORM'];
/** `MONEY_MODEL_CASES=1000` looks longer, and with `MONEY_MODEL_SEED` elsewhere. */
const CASES = Number(
  process.env['MONEY_MODEL_CASES'] ?? (FORM === 'full' ? 100 : FORM === 'sample' ? 25 : 5),
);
const SEED = Number(process.env['MONEY_MODEL_SEED'] ?? 1);
/** Histories that are played at once, each on its own database: most of a history is waiting. */
const LANES = 4;

const databases = await Promise.all(Array.from({ length: LANES }, openTestDatabase));
afterAll(() => Promise.all(databases.map((database) => database.close())));

const replica = fc.nat(1);
const key = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      replica,
      key,
      agent: fc.constantFrom('answers', 'answers', 'answers', 'is unreachable'),
      endsAfter: fc.option(fc.nat(60), { freq: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('block' as const), most: fc.constantFrom(1, 2, 99) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('finalize', 'fork', 'fork', 'forget', 'expire', 'give up', 'reclaim', 'top up'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const), replica }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reconcile' as const), replica }) },
);
const history = fc.array(step, { minLength: 4, maxLength: 18 });

/** Plays so many histories until one breaks a property. @returns its place in them, and the broken property */
async function firstBroken(
  count: number,
  mutation?: Mutation,
): Promise<{ path: string; steps: Step[]; violations: string[] } | undefined> {
  const histories: Step[][] = [];
  const keep = fc.property(history, (steps) => void histories.push(steps));
  fc.assert(keep, { numRuns: count, seed: SEED });
  const left = histories.entries();
  let broken: Awaited<ReturnType<typeof firstBroken>>;
  const play = async (database: TemporaryDatabase) => {
    for (const [place, steps] of left) {
      const violations = await violationsOf(steps, database, mutation);
      if (violations.length > 0) broken ??= { path: `${place}`, steps, violations };
      if (broken !== undefined) return;
    }
  };
  await Promise.all(databases.map(play));
  return broken;
}

it(
  'charges at most once, delivers nothing unpaid but by a counted fork, and brings all to an end, whatever happens in whatever order [MON-70]',
  { timeout: 3_600_000 },
  async () => {
    const broken = await firstBroken(CASES);
    if (broken !== undefined && FORM !== 'sample') {
      // Says the shortest history that it finds.
      const [database] = databases as [TemporaryDatabase];
      const holds = fc.asyncProperty(
        history,
        async (steps) => (await violationsOf(steps, database)).length === 0,
      );
      await fc.assert(holds, { seed: SEED, path: broken.path });
    }
    expect(broken).toBeUndefined();
  },
);

/** Replaces members of one part. */
const on =
  <P extends keyof MoneyParts>(part: P, change: (parts: MoneyParts) => Partial<MoneyParts[P]>): Mutation =>
  (parts) => ({ ...parts, [part]: { ...parts[part], ...change(parts) } });
/** Blocks seem to be far ahead, so that a transaction seems to have expired. */
const hurried = on('chain', ({ chain }) => ({
  blockHeight: async (commitment) => (await chain.blockHeight(commitment)) + 1_000n,
}));

/** Each breaks one rule of charging; the model has to find a history that shows it. */
const MUTANTS: Readonly<Record<string, Mutation>> = {
  'lets output leave before the charge is in a block': on('chain', () => ({
    waitForConfirmation: async () => ({
      slot: 1,
      confirmations: null,
      err: null,
      confirmationStatus: 'confirmed',
    }),
  })),
  'takes a confirmed transaction for a final one': on('chain', ({ chain }) => ({
    statuses: async (signatures, searchHistory) =>
      (await chain.statuses(signatures, searchHistory)).map(
        (status) => status && { ...status, confirmationStatus: 'finalized' as const },
      ),
  })),
  'gives up a transaction that may still land': hurried,
  'signs a charge anew with another sequence, while the first may still land': (parts) =>
    on('signer', ({ signer }) => ({
      sign: (charges, isFresh) =>
        signer.sign(
          charges.map((charge) => (isFresh ? { ...charge, sequence: charge.sequence + 20n } : charge)),
          isFresh,
        ),
    }))(hurried(parts)),
  // Every second write breaks: in the right order nothing was sent then.
  'sends a transaction before it is written down': (parts) => {
    let writes = 0;
    return {
      ...parts,
      signer: {
        ...parts.signer,
        async sign(charges, isFresh) {
          const signed = await parts.signer.sign(charges, isFresh);
          await parts.chain.send(signed.signedBytes);
          return signed;
        },
      },
      states: {
        ...parts.states,
        async sign(runIds, signed) {
          writes += 1;
          if (writes % 2 === 0) throw new Error('The connection broke.');
          return parts.states.sign(runIds, signed);
        },
      },
    };
  },
  'gives no credits': (parts) => ({
    ...parts,
    credits: { ...parts.credits, give: async () => false },
    states: { ...parts.states, credit: async () => undefined, creditUndelivered: async () => undefined },
  }),
  'sets aside less than a run costs': on('charges', ({ charges }) => ({
    async reserve(order) {
      const reserved = await charges.reserve({ ...order, priceLamports: 1n });
      return reserved === 'credited' ? reserved : { ...reserved, price_lamports: order.priceLamports };
    },
  })),
  'follows no charge that a process left': on('charges', () => ({ takeDue: async () => [] })),
};
const MUTANT_CASES = 80;
const MUTANTS_IN_SAMPLE = 3;

/** Some of the mutants, which go round with the seed of the run; the full form plays all. */
function mutantsOfThisRun(): [string, Mutation][] {
  const all = Object.entries(MUTANTS);
  const from = Number(process.env['TEST_SEED'] ?? 1) % all.length;
  return FORM === 'full' ? all : [...all.slice(from), ...all].slice(0, MUTANTS_IN_SAMPLE);
}

it.skipIf(FORM === 'quick').each(mutantsOfThisRun())(
  'would notice a service that %s [MON-70]',
  { timeout: 600_000 },
  async (_, mutation) => {
    expect(await firstBroken(MUTANT_CASES, mutation)).toBeDefined();
  },
);
