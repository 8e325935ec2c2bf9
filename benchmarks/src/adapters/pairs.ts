import { median } from '../report.js';

/** Something that is measured. */
export interface Measured {
  run(): Promise<unknown>;
  cpuMs(): Promise<number>;
}

/** What it took, round by round. */
interface Samples {
  readonly ms: number[];
  readonly cpuMs: number[];
}

/** Both sides of a comparison. */
export interface Pairs {
  readonly ours: Samples;
  readonly floor: Samples;
}

/** Measures both in turns, each after `before`, so that what else the machine does falls on both; who goes first changes every round. */
export async function measurePairs(
  ours: Measured,
  floor: Measured,
  { rounds, warmUpRounds, before }: { rounds: number; warmUpRounds: number; before?: () => Promise<void> },
): Promise<Pairs> {
  const pairs: Pairs = { ours: { ms: [], cpuMs: [] }, floor: { ms: [], cpuMs: [] } };
  const sides = [
    { measured: ours, samples: pairs.ours },
    { measured: floor, samples: pairs.floor },
  ];
  for (let round = 0; round < warmUpRounds + rounds; round += 1) {
    for (const { measured, samples } of round % 2 === 0 ? sides : sides.toReversed()) {
      await before?.();
      const cpuMsBefore = await measured.cpuMs();
      const startedAt = performance.now();
      await measured.run();
      const ms = performance.now() - startedAt;
      const cpuMs = (await measured.cpuMs()) - cpuMsBefore;
      if (round < warmUpRounds) continue;
      samples.ms.push(ms);
      samples.cpuMs.push(cpuMs);
    }
  }
  return pairs;
}

/** How many times the floor's time ours is: the median over the rounds. */
export function ratioOf({ ours, floor }: Pairs): number {
  return median(ours.ms.map((ms, round) => ms / (floor.ms[round] ?? Number.NaN)));
}
