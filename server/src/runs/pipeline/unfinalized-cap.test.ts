import type { SignatureStatus } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { breaks, errorOf, openPaidRuns, PRICE, type PaidRunWorld } from './paid-run.test-support.js';

const { world } = await openPaidRuns();

/** A chain that confirms at once and finalizes when the test says so; every charge is above the wallet's cap. */
async function cappedWorld(setup: PaidRunWorld = {}) {
  let finality: SignatureStatus['confirmationStatus'] = 'confirmed';
  let asked: () => void = () => undefined;
  const waits = new Promise<void>((resolve) => (asked = resolve));
  const made = await world({
    unfinalizedCapLamports: PRICE - 1n,
    ...setup,
    chain: {
      statuses: async (signatures) => {
        asked();
        return signatures.map(() => ({ err: null, confirmationStatus: finality }) as SignatureStatus);
      },
    },
  });
  const reconciled = async <T>(look: () => Promise<T>): Promise<T> => {
    await made.reconcile();
    return look();
  };
  return { ...made, reconciled, waits, finalize: () => (finality = 'finalized') };
}

const result = { status: 'completed', output: { answer: 'because' } };

describe('a run whose charge is above the cap of unfinalized value', () => {
  it('is answered once its charge is final, to a caller that waits [MON-10]', async () => {
    const { execute, waits, finalize, charges } = await cappedWorld();
    const answer = execute();
    await waits;
    expect((await charges())[0]).toMatchObject({ state: 'confirmed', awaits_finality: true });
    finalize();
    expect(await answer).toMatchObject({ ...result, costLamports: PRICE });
  });

  it('is a 503 with the run after the caller’s wait, and its result is served once the charge is final', async () => {
    const { execute, look, reconciled, finalize, charges } = await cappedWorld({ chargeWaitMs: 50 });
    const { runId = '', status } = await errorOf(execute());
    expect(status).toBe(503);
    expect(await reconciled(() => look(runId))).toMatchObject({ status: 'running' });
    finalize();
    expect(await reconciled(() => look(runId))).toMatchObject(result);
    expect(await execute()).toMatchObject({ ...result, runId });
    expect((await charges()).map(({ state }) => state)).toEqual(['finalized']);
  });

  it('is "running" for a caller that waits no longer, which gets the result by its id', async () => {
    const { execute, look, waits, finalize, reconciled } = await cappedWorld({ chargeWaitMs: 50 });
    const caller = { gone: new AbortController().signal, patienceMs: 1, mayComeBack: true };
    const { runId, status } = await execute({ caller });
    expect(status).toBe('running');
    await waits;
    expect(await reconciled(() => look(runId))).toMatchObject({ status: 'running' });
    finalize();
    // The result may still be on its way into the database.
    await expect.poll(() => reconciled(() => look(runId))).toMatchObject(result);
  });

  it('lets no byte of a stream leave before', async () => {
    const left: string[] = [];
    const { stream, waits, finalize } = await cappedWorld({
      agent: async ({ contact, onText }) => {
        contact.reach();
        onText('be');
        onText('cause');
        return { status: 'completed', output: 'because' };
      },
    });
    const ended = stream({ begin: () => left.push('begin'), delta: (text) => left.push(text) });
    await waits;
    expect(left).toEqual([]);
    finalize();
    await ended;
    expect(left).toEqual(['begin', 'be', 'cause']);
  });

  it('and was not delivered is credited once its charge is final, and not before', async () => {
    const { execute, reconciled, finalize, hasCredit } = await cappedWorld({
      chargeWaitMs: 50,
      agent: breaks,
    });
    await errorOf(execute());
    expect(await reconciled(hasCredit)).toBe(false);
    finalize();
    // The statement that marks the run as undelivered may still be under way.
    await expect.poll(() => reconciled(hasCredit)).toBe(true);
  });
});

it('a run within the cap is answered while its charge is not final', async () => {
  const { execute } = await cappedWorld({ unfinalizedCapLamports: PRICE });
  expect(await execute()).toMatchObject(result);
});
