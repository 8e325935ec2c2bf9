import type { InstructionName } from '../model/instruction-table.js';
import { endingName, type Verdict } from '../model/errors.js';
import type { Way } from '../model/errors.js';
import type { StepReport } from '../world/world.js';

/** Counts what a campaign has seen: how each instruction ended, and which followed which. */
export class Coverage {
  readonly #counts = new Map<string, number>();
  readonly #pairs = new Map<string, number>();
  readonly #ways = new Map<string, number>();
  #last: InstructionName | null = null;
  instructions = 0;
  successes = 0;

  /** Nothing that happened in another world counts as before. */
  beginWorld(): void {
    this.#last = null;
  }

  /** Counts an instruction. */
  record({ name, verdict, way }: StepReport): void {
    this.instructions += 1;
    this.#add(this.#counts, keyOf(name, verdict));
    if (verdict === null && name !== null) {
      this.successes += 1;
      if (way !== null) {
        this.#add(this.#ways, way);
      }
      if (this.#last !== null) {
        this.#add(this.#pairs, `${this.#last} ${name}`);
      }
      this.#last = name;
    }
  }

  #add(counts: Map<string, number>, key: string, by = 1): void {
    counts.set(key, (counts.get(key) ?? 0) + by);
  }

  /** How often an instruction ended so. */
  count(name: InstructionName | null, verdict: Verdict): number {
    return this.#counts.get(keyOf(name, verdict)) ?? 0;
  }

  /** Every way in which an instruction ended at least once, in words. */
  endings(name: InstructionName): string[] {
    const prefix = `${name} `;
    return [...this.#counts.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length));
  }

  /** How often a success was of a way that is counted apart. */
  wayCount(way: Way): number {
    return this.#ways.get(way) ?? 0;
  }

  /** How often `second` was the next success after one of `first`. */
  pairCount(first: InstructionName, second: InstructionName): number {
    return this.#pairs.get(`${first} ${second}`) ?? 0;
  }

  /** Everything that was counted, as plain data. */
  toJSON(): {
    instructions: number;
    successes: number;
    counts: [string, number][];
    pairs: [string, number][];
    ways: [string, number][];
  } {
    return {
      instructions: this.instructions,
      successes: this.successes,
      counts: [...this.#counts],
      pairs: [...this.#pairs],
      ways: [...this.#ways],
    };
  }

  /** Adds what another campaign counted. */
  merge(other: ReturnType<Coverage['toJSON']>): void {
    this.instructions += other.instructions;
    this.successes += other.successes;
    for (const [key, count] of other.counts) {
      this.#add(this.#counts, key, count);
    }
    for (const [key, count] of other.pairs) {
      this.#add(this.#pairs, key, count);
    }
    for (const [key, count] of other.ways) {
      this.#add(this.#ways, key, count);
    }
  }
}

function keyOf(name: InstructionName | null, verdict: Verdict): string {
  return `${name ?? 'none'} ${endingName(verdict)}`;
}
