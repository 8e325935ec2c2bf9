import { median } from '../report.js';

/** One side of a comparison. */
export interface Leg {
  run(): Promise<unknown>;
  /** CPU time that the leg's processes have used, in milliseconds. */
  cpuMs?(): Promise<number>;
}

/** Figures of each round, in milliseconds. */
export interface Samples {
  readonly ms: number[];
  readonly cpuMs: number[];
}

/** How often legs run. `before` runs ahead of each leg and is not measured. */
export interface Rounds {
  readonly rounds: number;
  readonly warmUps: number;
  readonly before?: () => Promise<void>;
}

/** Runs two legs in turns, so that both share the machine's other load. The first leg changes every round. */
export async function byTurns(
  ours: Leg,
  baseline: Leg,
  { rounds, warmUps, before }: Rounds,
): Promise<{ ours: Samples; baseline: Samples }> {
  const sides = [ours, baseline].map((leg) => ({ leg, samples: { ms: [], cpuMs: [] } as Samples }));
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const { leg, samples } of round % 2 === 0 ? sides : sides.toReversed()) {
      await before?.();
      const cpuMsBefore = (await leg.cpuMs?.()) ?? 0;
      const ms = await timed(() => leg.run());
      const cpuMs = ((await leg.cpuMs?.()) ?? 0) - cpuMsBefore;
      if (round < warmUps) continue;
      samples.ms.push(ms);
      samples.cpuMs.push(cpuMs);
    }
  }
  const [first, second] = sides.map(({ samples }) => samples) as [Samples, Samples];
  return { ours: first, baseline: second };
}

/** The median ratio of paired values. */
export function ratioOf(ours: readonly number[], baseline: readonly number[]): number {
  return median(ours.map((value, round) => value / (baseline[round] ?? Number.NaN)));
}

/** Time of the work, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** CPU time of this process so far, in milliseconds. */
export async function ownCpuMs(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
