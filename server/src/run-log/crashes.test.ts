import { NO_PREVIOUS_ROOT } from '@agent-rental/program-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  runLogWorld,
  startTestChain,
  type RunLogWorld,
  type TestLocalChain,
} from './run-log.test-support.js';

let local: TestLocalChain;
let world: RunLogWorld;
beforeAll(async () => {
  local = await startTestChain();
  world = await runLogWorld(local);
});
afterAll(async () => {
  await world?.database.close();
  await local?.close();
});

type Parts = Parameters<RunLogWorld['newPublisher']>[0] extends (infer C) | undefined
  ? C extends (parts: infer P) => unknown
    ? P
    : never
  : never;

/** Every call of a process to the database, the chain and the signer, in order. The list is made by the code that runs. */
class Process {
  readonly steps: string[] = [];
  #isDead = false;
  readonly #crash: { at: number; when: 'before' | 'after' } | undefined;

  constructor(crash?: { at: number; when: 'before' | 'after' }) {
    this.#crash = crash;
  }

  watch(parts: Parts): Parts {
    const { chain, chainLog, repository, signer } = parts;
    return {
      ...parts,
      chain: this.#watched('chain', chain),
      chainLog: this.#watched('chainLog', chainLog),
      repository: this.#watched('repository', repository),
      signer: { ...signer, sign: this.#watched('signer', { sign: signer.sign }).sign },
    };
  }

  #watched<T extends object>(name: string, part: T): T {
    return new Proxy(part, {
      get: (target, method, receiver) => {
        const call = Reflect.get(target, method, receiver) as unknown;
        if (typeof call !== 'function') return call;
        return async (...values: unknown[]): Promise<unknown> => {
          this.#die(this.#isDead);
          this.steps.push(`${name}.${String(method)}`);
          const isHere = this.steps.length - 1 === this.#crash?.at;
          this.#die(isHere && this.#crash?.when === 'before');
          const answer: unknown = await call.apply(target, values);
          this.#die(isHere);
          return answer;
        };
      },
    });
  }

  /** A process that is gone does nothing more. */
  #die(isOver: boolean): void {
    if (!isOver) return;
    this.#isDead = true;
    throw new Error('killed');
  }
}

/** The rounds of one process, in which a batch is made, sent, confirmed and final. */
async function live(process: Process): Promise<void> {
  const publisher = world.newPublisher((parts) => process.watch(parts));
  try {
    await publisher.round('all');
    await publisher.round('all');
    await local.finalize();
    await publisher.round('all');
  } catch (error) {
    if (!(error instanceof Error && error.message === 'killed')) throw error;
  }
}

it('a process that is killed before or after any of its steps leaves a log that goes on, with no run twice or missing [MON-32]', async () => {
  await world.endRun();
  const whole = new Process();
  await live(whole);
  // The test must kill processes at these steps, too.
  expect(whole.steps).toEqual(
    expect.arrayContaining([
      'repository.makeBatch',
      'repository.takeOpen',
      'signer.sign',
      'repository.recordSignature',
      'chain.send',
      'chain.statuses',
      'repository.close',
    ]),
  );
  const runs: string[] = [];
  for (const at of whole.steps.keys()) {
    for (const when of ['before', 'after'] as const) {
      runs.push(await world.endRun(), await world.endRun());
      const killed = new Process({ at, when });
      await live(killed);
      expect(killed.steps.slice(0, at + 1)).toEqual(whole.steps.slice(0, at + 1));
      await world.settle();
    }
  }
  const batches = await world.onChain();
  expect(batches.map(({ batch }) => batch)).toEqual(batches.map((_, index) => BigInt(index + 1)));
  expect(batches.map(({ previousRoot }) => previousRoot)).toEqual([
    NO_PREVIOUS_ROOT,
    ...batches.slice(0, -1).map(({ root }) => root),
  ]);
  expect(batches.reduce((count, batch) => count + batch.count, 0)).toBe(runs.length + 1);
  for (const run of runs) expect(await world.verify(run)).toMatchObject({ ok: true });
}, 120_000);
