import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { Chain } from '../world/chain.js';
import { Coverage } from './coverage.js';
import { nextOperations } from '../generator/operation.js';
import { Scene } from '../generator/scene.js';
import type { Operation } from '../world/operations.js';
import { Universe } from '../world/universe.js';
import { Violation, World } from '../world/world.js';

/** Steps in a world. Then a new world starts, because closed listings and revoked credentials accumulate. */
const STEPS_PER_WORLD = 600;

/** Worlds that share a table of addresses. Its derivation costs as much as some thousand instructions. */
const WORLDS_PER_UNIVERSE = 100;

/** The options of a campaign. */
export interface CampaignOptions {
  /** The program. */
  so: Uint8Array;
  /** The same seed gives the same sequences. */
  seed: number;
  /** The number of instructions. */
  instructions: number;
  /** Whether a failing sequence is shortened. Default: true. */
  isMinimised?: boolean;
  /** Called after every world. */
  onProgress?: (coverage: Coverage) => void;
}

/** A failing sequence. */
export interface CampaignFailure {
  message: string;
  seed: number;
  /** The world's number from the campaign's start, and the step in it. */
  world: number;
  step: number;
  universe: Universe;
  /** The shortest failing sequence that was found. */
  operations: readonly Operation[];
}

/** The result of a campaign. */
export interface CampaignResult {
  coverage: Coverage;
  failure: CampaignFailure | null;
}

/** Runs random sequences in one world after another, until the number of instructions or a failure. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { so, seed, instructions } = options;
  const coverage = new Coverage();
  let chain: Chain | null = null;
  for (let number = 0; coverage.instructions < instructions; number += 1) {
    if (chain === null || number % WORLDS_PER_UNIVERSE === 0) {
      chain = new Chain(new Universe((seed * 1_000 + number / WORLDS_PER_UNIVERSE) >>> 0), so);
    }
    const { universe } = chain;
    const world = new World(chain);
    const done: Operation[] = [];
    const message = runWorld(world, seed * 1_000_003 + number, coverage, done);
    if (message !== null) {
      const operations = options.isMinimised === false ? done : minimise(done, universe, so);
      const failure = { message, seed, world: number, step: done.length, universe, operations };
      return { coverage, failure };
    }
    options.onProgress?.(coverage);
    // Only the event loop frees the runtime's native objects, so that memory would grow without this turn.
    await setImmediate();
  }
  return { coverage, failure: null };
}

/** Runs a world, and records its steps in `done`. @returns the violation, or null. */
function runWorld(world: World, seed: number, coverage: Coverage, done: Operation[]): string | null {
  const scene = new Scene(world.ledger, seed);
  coverage.beginWorld();
  return violationOf(() => {
    while (done.length < STEPS_PER_WORLD) {
      for (const operation of nextOperations(scene)) {
        done.push(operation);
        const report = world.step(operation);
        if (report !== null) {
          coverage.record(report);
        }
      }
    }
    world.compareAll();
  });
}

/** Shortens a sequence to one that still fails in a new world. */
function minimise(done: Operation[], universe: Universe, so: Uint8Array): readonly Operation[] {
  const isRight = (operations: readonly Operation[]): boolean => {
    const world = new World(new Chain(universe, so));
    const message = violationOf(() => {
      operations.forEach((operation) => world.step(operation));
      world.compareAll();
    });
    return message === null;
  };
  const { counterexample } = fc.check(fc.property(fc.subarray(done), isRight), {
    examples: [[done]],
    numRuns: 1,
  });
  return counterexample?.[0] ?? done;
}

function violationOf(run: () => void): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof Violation) {
      return error.message;
    }
    throw error;
  }
}
