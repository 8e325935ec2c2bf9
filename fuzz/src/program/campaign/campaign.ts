import { setImmediate } from 'node:timers/promises';
import { Chain } from '../world/chain.js';
import { Coverage } from './coverage.js';
import { nextOperations } from '../generator/operation.js';
import { View } from '../generator/view.js';
import { minimise } from './minimise.js';
import type { Operation } from '../world/operations.js';
import { Random } from '@agent-rental/test/support/random';
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
  operations: Operation[];
}

/** What became of a campaign. */
export interface CampaignResult {
  coverage: Coverage;
  failure: CampaignFailure | null;
}

/** Runs random sequences in one world after another until the instructions are used up or something is wrong. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const coverage = new Coverage();
  for (let number = 0; ; number += WORLDS_PER_UNIVERSE) {
    const universe = new Universe((options.seed * 1_000 + number / WORLDS_PER_UNIVERSE) >>> 0);
    const chain = new Chain(universe, options.so);
    for (let world = number; world < number + WORLDS_PER_UNIVERSE; world += 1) {
      if (coverage.instructions >= options.instructions) {
        return { coverage, failure: null };
      }
      const failure = runWorld(options, universe, chain, world, coverage);
      if (failure !== null) {
        return { coverage, failure };
      }
      options.onProgress?.(coverage);
      // The runtime's native objects are freed by the event loop alone: without a turn of it memory only grows.
      await setImmediate();
    }
  }
}

function runWorld(
  options: CampaignOptions,
  universe: Universe,
  chain: Chain,
  number: number,
  coverage: Coverage,
): CampaignFailure | null {
  const random = new Random(options.seed * 1_000_003 + number);
  const world = new World(universe, chain);
  const view = new View(world.ledger);
  const done: Operation[] = [];
  coverage.beginWorld();
  try {
    while (done.length < STEPS_PER_WORLD) {
      for (const operation of nextOperations(view, random)) {
        done.push(operation);
        const report = world.step(operation);
        if (report !== null) {
          coverage.record(report);
        }
      }
    }
    world.compareAll();
    return null;
  } catch (error) {
    if (!(error instanceof Violation)) {
      throw error;
    }
    const operations =
      options.isMinimised === false
        ? done
        : minimise(done, (operations) => goesWrong(universe, options.so, operations));
    return {
      message: error.message,
      seed: options.seed,
      world: number,
      step: done.length,
      universe,
      operations,
    };
  }
}

/** Whether a sequence still breaks something in a fresh world. */
function goesWrong(universe: Universe, so: Uint8Array, operations: readonly Operation[]): boolean {
  const world = new World(universe, new Chain(universe, so));
  try {
    for (const operation of operations) {
      world.step(operation);
    }
    world.compareAll();
    return false;
  } catch (error) {
    if (error instanceof Violation) {
      return true;
    }
    throw error;
  }
}
