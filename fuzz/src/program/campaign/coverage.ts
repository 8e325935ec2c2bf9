import type { InstructionName } from '../model/instruction-table.js';
import { endingName } from '../model/errors.js';
import type { StepReport } from '../world/world.js';

/** The kinds of counts: `instruction ending`, successes as `first second`, and ways to succeed. */
const KINDS = ['counts', 'pairs', 'ways'] as const;
type Kind = (typeof KINDS)[number];

/** What a campaign has counted, as plain data. */
export type CoverageData = { instructions: number; successes: number } & Record<Kind, [string, number][]>;

/** Counts what a campaign has seen: how each instruction ended, and which followed which. */
export class Coverage {
  readonly #tallies: Record<Kind, Map<string, number>> = {
    counts: new Map(),
    pairs: new Map(),
    ways: new Map(),
  };
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
    this.#add('counts', `${name ?? 'none'} ${endingName(verdict)}`);
    if (verdict === null && name !== null) {
      this.successes += 1;
      if (way !== null) {
        this.#add('ways', way);
      }
      if (this.#last !== null) {
        this.#add('pairs', `${this.#last} ${name}`);
      }
      this.#last = name;
    }
  }

  #add(kind: Kind, key: string, by = 1): void {
    this.#tallies[kind].set(key, this.times(kind, key) + by);
  }

  /** How often something happened. */
  times(kind: Kind, key: string): number {
    return this.#tallies[kind].get(key) ?? 0;
  }

  /** Everything that was counted, as plain data. */
  toJSON(): CoverageData {
    const { instructions, successes } = this;
    const { counts, pairs, ways } = this.#tallies;
    return { instructions, successes, counts: [...counts], pairs: [...pairs], ways: [...ways] };
  }

  /** Adds what another campaign counted. */
  merge(other: CoverageData): void {
    this.instructions += other.instructions;
    this.successes += other.successes;
    KINDS.forEach((kind) => other[kind].forEach(([key, count]) => this.#add(kind, key, count)));
  }
}
