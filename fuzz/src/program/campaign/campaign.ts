import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { Chain } from '../world/chain.js';
import { Coverage } from './coverage.js';
import { nextOperations } from '../generator/operation.js';
import { Scene } from '../generator/scene.js';
import type { Operation } from '../world/operations.js';
import { Universe } from '../world/universe.js';
import { Violation, World } from '../world/world.js';

/** Steps that a world lives; then a new one begins, because closed listings and revoked credentials pile up. */
const STEPS_PER_WORLD = 600;

/** Worlds that share a table of addresses; deriving one costs as much as some thousand instructions. */
const WORLDS_PER_UNIVERSE = 100;

/** What a campaign is to do. */
export interface CampaignOptions {
  /** The program. */
  so: Uint8Array;
  /** The same seed gives the same sequences. */
  seed: number;
  /** How many instructions to run. */
  instructions: number;
  /** Whether a sequence that goes wrong is shortened; true unless said otherwise. */
  isMinimised?: boolean;
  /** Called after every world. */
  onProgress?: (coverage: Coverage) => void;
}

/** How a sequence went wrong. */
export interface CampaignFailure {
  message: string;
  seed: number;
  /** The world's number from the campaign's start, and the step in it. */
  world: number;
  step: number;
  universe: Universe;
  /** A shortest sequence found that goes wrong alike. */
  operations: readonly Operation[];
}

/** What became of a campaign. */
export interface CampaignResult {
  coverage: Coverage;
  failure: CampaignFailure | null;
}

/** Runs random sequences in one world after another until the instructions are used up or something is wrong. */
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
    // The runtime's native objects are freed by the event loop alone: without a turn of it memory only grows.
    await setImmediate();
  }
  return { coverage, failure: null };
}

/** Lives a world, noting its steps in `done`; how it went wrong, or null. */
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

/** A shortest sequence found that still breaks something in a fresh world. */
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
