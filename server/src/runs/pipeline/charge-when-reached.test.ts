import { verifySignature } from '@agent-rental/ed25519';
import { Keypair, VersionedTransaction, type MessageV0, type SignatureStatus } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { createHttpSigner, type Chain } from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import { insertRun, loginOf, startSigningService } from '../../testing/index.js';
import { FAILED_TASK } from '../agents/outcome.js';
import {
  answers,
  breaks,
  errorOf,
  losesSandbox,
  LISTING_PRICE_OFFSET,
  openPaidRuns,
  PRICE,
  silent,
  STANDING,
  unreachable,
  type AgentWork,
} from './paid-run.test-support.js';
import { RunStoppedError } from '../live/run-stopped.js';

const { db, world } = await openPaidRuns();

const answering = answers();
/** The chain's status of a transaction that the program refused. */
const failedBy = (code: number, confirmationStatus: 'confirmed' | 'finalized') =>
  ({ err: { InstructionError: [1, { Custom: code }] }, confirmationStatus }) as never;

describe('an agent that was not reached in the last 10 minutes', () => {
  it('costs nothing when it cannot be reached, and its run is on record without its key [MON-13, EXE-87]', async () => {
    const made = await world({ isHot: false, agent: unreachable });
    const { execute, charges, signatures, hasCredit, allowed, runs, wallet } = made;
    const { runId, code } = await errorOf(execute());
    expect(code).toBe('service_unavailable');
    expect(await charges()).toEqual([]);
    expect(await signatures()).toBe(0);
    expect(await hasCredit()).toBe(false);
    expect(allowed.size).toBe(0);
    expect(await runs.find(runId ?? '', loginOf(wallet))).toMatchObject({
      status: 'undelivered',
      error: { code: 'service_unavailable', message: expect.stringContaining('cannot be reached') as string },
      idempotency_key: null,
    });
  });

  it('is charged once it was reached, and at the start from then on [MON-13]', async () => {
    let chargedBeforeContact: number | undefined;
    const { execute, signatures, charges } = await world({
      isHot: false,
      balanceLamports: 2n * PRICE,
      agent: async (work) => {
        chargedBeforeContact = await signatures();
        return answering(work);
      },
    });
    expect(await execute()).toMatchObject({ status: 'completed', costLamports: PRICE });
    expect(chargedBeforeContact).toBe(0);
    expect(await charges()).toMatchObject([{ state: 'confirmed', price_lamports: PRICE }]);
    // The contact is on record beside the run.
    await expect
      .poll(async () => (await db.selectFrom('agent_contacts').select('version_id').execute()).length)
      .toBeGreaterThan(0);
  });

  it('that does not answer within the manifest’s time has failed, and costs nothing [MON-13]', async () => {
    const { execute, charges } = await world({
      isHot: false,
      manifestTimeoutSeconds: 1,
      agent: silent,
    });
    expect(await execute()).toMatchObject({ status: 'failed', costLamports: 0n });
    expect(await charges()).toEqual([]);
  });

  it('that its caller stops after the task has gone out is paid [MON-13]', async () => {
    const { execute, charges, runs, changes, wallet } = await world({
      isHot: false,
      agent: async (work) => {
        const failed = silent(work);
        const row = await runs.findByKey(loginOf(wallet), `key-${wallet}`);
        await runs.requestStop(row?.id ?? '', 'cancelled');
        await changes.announce(row?.id ?? '');
        return failed;
      },
    });
    const stopped = new RunStoppedError('cancelled', '').output;
    expect(await execute()).toMatchObject({ status: 'failed', output: stopped, costLamports: PRICE });
    expect(await charges()).toMatchObject([{ state: 'confirmed' }]);
  });

  it('that its caller gives less time than the manifest does is paid once the task has gone out [MON-13]', async () => {
    const { execute, listing } = await world({ isHot: false, agent: silent });
    const body = { agent_id: listing.id, task: 'answer', timeout_seconds: 1 };
    expect(await execute({ body })).toMatchObject({ status: 'failed', costLamports: PRICE });
  });
});

describe('an agent that was reached lately and is gone', () => {
  it('gives a credit once, and is charged when reached from then on [MON-5, MON-13]', async () => {
    const { execute, hasCredit, charges, signatures } = await world({
      balanceLamports: 3n * PRICE,
      agent: unreachable,
    });
    await errorOf(execute());
    await expect.poll(hasCredit).toBe(true);
    expect(await signatures()).toBe(1);
    // This one uses the credit, and gets it back.
    await errorOf(execute());
    await expect.poll(hasCredit).toBe(true);
    expect(await charges()).toHaveLength(1);
  });

  it('is not charged at the start any more once five runs of a day were credited [MON-5]', async () => {
    const { execute, db, wallet, listing, charges } = await world({ agent: unreachable });
    for (let run = 0; run < 5; run += 1) {
      const id = await insertRun(db, { id: listing.id, version_id: listing.version.id }, wallet);
      const credit = { run_id: id, wallet, listing_id: listing.id, used_by_run_id: id };
      await db
        .updateTable('runs')
        .set({ status: 'undelivered', finished_at: new Date() })
        .where('id', '=', id)
        .execute();
      await db.insertInto('credits').values(credit).execute();
    }
    await errorOf(execute());
    expect(await charges()).toEqual([]);
  });
});

describe('a run of which output has left', () => {
  /** An agent that breaks once its text has left. */
  function leaving(end: AgentWork = breaks) {
    let isLeft: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (isLeft = resolve));
    const agent: AgentWork = async (work) => {
      work.contact.reach();
      work.onText('the beginning');
      await left;
      return end(work);
    };
    return { agent, isLeft };
  }

  it('is charged and never credited, whatever else than its sandbox breaks [MON-1]', async () => {
    const left: string[] = [];
    const { agent, isLeft } = leaving();
    const { stream, hasCredit, charges } = await world({ agent });
    const finished = await stream({
      begin: () => undefined,
      delta: (text) => {
        left.push(text);
        isLeft();
      },
    });
    expect(finished).toMatchObject({ status: 'failed', costLamports: PRICE });
    expect(left[0]).toBe('the beginning');
    expect(await charges()).toMatchObject([{ state: 'confirmed' }]);
    expect(await hasCredit()).toBe(false);
  });

  it('is credited when its sandbox was lost, and counts for no agent [MON-5]', async () => {
    const { agent, isLeft } = leaving(losesSandbox);
    const { stream, hasCredit, statuses } = await world({ agent });
    const failed = await errorOf(stream({ begin: () => undefined, delta: () => isLeft() }));
    expect(failed.message).toContain('Your next run of it is free.');
    await expect.poll(hasCredit).toBe(true);
    expect(await statuses()).toEqual([{ status: 'undelivered', failure_class: 'service_fault' }]);
  });

  it('keeps the credit used that paid for it [MON-1]', async () => {
    const { agent, isLeft } = leaving();
    let work = unreachable;
    const { execute, stream, hasCredit } = await world({ agent: (options) => work(options) });
    await errorOf(execute());
    await expect.poll(hasCredit).toBe(true);
    work = agent;
    const finished = await stream({ begin: () => undefined, delta: () => isLeft() });
    expect(finished).toMatchObject({ status: 'failed', costLamports: 0n });
    expect(await hasCredit()).toBe(false);
  });

  it('is on record before the first byte leaves, so that a crash of the server changes nothing [MON-1]', async () => {
    let recorded: unknown;
    const { stream, wallet } = await world({
      agent: async (work) => {
        work.onText('the beginning');
        return answering(work);
      },
    });
    await stream({
      begin: () => undefined,
      delta: () => {
        recorded ??= db
          .selectFrom('runs')
          .select(['output_left_at', 'status'])
          .where('wallet', '=', wallet)
          .executeTakeFirstOrThrow();
      },
    });
    const row = (await recorded) as { output_left_at: Date | null; status: string };
    expect(row.output_left_at !== null || row.status === 'completed').toBe(true);
  });
});

it('a run whose sandbox was lost after the agent was reached is credited [MON-5]', async () => {
  const { execute, hasCredit, statuses } = await world({ agent: losesSandbox });
  expect(await errorOf(execute())).toMatchObject({ code: 'service_unavailable' });
  await expect.poll(hasCredit).toBe(true);
  expect(await statuses()).toEqual([{ status: 'undelivered', failure_class: 'service_fault' }]);
});

it('a failure of an agent that was reached is charged', async () => {
  const failed = { status: 'failed', output: FAILED_TASK, cause: { class: 'task_failed' } } as const;
  const { execute, hasCredit } = await world({ agent: answers(failed) });
  expect(await execute()).toMatchObject({ status: 'failed', costLamports: PRICE });
  expect(await hasCredit()).toBe(false);
});

it('a repeat under an idempotency key is not charged while the charge of the first run may still land [MON-7]', async () => {
  let landed: SignatureStatus | null = null;
  let confirm: (status: SignatureStatus) => void = () => undefined;
  const confirmation = new Promise<SignatureStatus>((resolve) => (confirm = resolve));
  let works = false;
  const { execute, signatures, hasCredit } = await world({
    balanceLamports: 3n * PRICE,
    chain: {
      waitForConfirmation: () => confirmation,
      statuses: async (all) => all.map(() => landed),
    },
    agent: (options) => (works ? answering(options) : unreachable(options)),
  });
  await errorOf(execute());
  works = true;
  const repeated = execute();
  // The repeat waits: nothing is signed for it.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await signatures()).toBe(1);
  landed = { err: null, confirmationStatus: 'confirmed' } as SignatureStatus;
  confirm(landed);
  expect(await repeated).toMatchObject({ status: 'completed', costLamports: 0n });
  expect(await signatures()).toBe(1);
  expect(await hasCredit()).toBe(false);
});

describe('an RPC that breaks after a charge has landed', () => {
  it('delays the index of the balance, and not the result', async () => {
    const { execute } = await world({ chain: { logsOf: () => Promise.reject(new Error('no chain')) } });
    expect(await execute()).toMatchObject({ status: 'completed' });
  });

  it('takes the reason of a failure from the result, and no run for undelivered that failed', async () => {
    const { execute, hasCredit } = await world({
      chain: {
        waitForConfirmation: async () => failedBy(6003, 'confirmed'),
        logsOf: () => Promise.reject(new Error('no chain')),
      },
    });
    expect(await errorOf(execute())).toMatchObject({ code: 'insufficient_balance' });
    expect(await hasCredit()).toBe(false);
  });
});

describe('a price that changes before the charge is signed', () => {
  const NEW_PRICE = 3_000_000n;
  /** The program refuses the price that the index still has, and the chain tells the new one. */
  const repriced = (from: bigint, to: bigint): Partial<Chain> => ({
    simulate: async (message) => {
      const data = message.compiledInstructions.at(-1)?.data ?? new Uint8Array();
      const price = Buffer.from(data).readBigUInt64LE(data.length - 8);
      return { error: price === from ? { InstructionError: [1, { Custom: 6104 }] } : null, logs: [] };
    },
    getAccounts: async () => {
      const [listing, ...others] = STANDING;
      const data = Buffer.from(listing?.data ?? []);
      data.writeBigUInt64LE(to, LISTING_PRICE_OFFSET);
      return { slot: 1n, accounts: [{ ...listing, data } as never, ...(others as never[])] };
    },
  });

  it('is admitted again: answer, policy, record and charge name the new price [PRG-10]', async () => {
    const { execute, charges, allowed } = await world({
      balanceLamports: NEW_PRICE,
      chain: repriced(PRICE, NEW_PRICE),
    });
    expect(await execute()).toMatchObject({ status: 'completed', costLamports: NEW_PRICE });
    expect(await charges()).toMatchObject([{ price_lamports: NEW_PRICE, state: 'confirmed' }]);
    expect([...allowed.values()]).toEqual([NEW_PRICE]);
  });

  it('above the caller’s policy is refused, and nothing is charged', async () => {
    const { execute, charges, signatures, allowed } = await world({
      balanceLamports: NEW_PRICE,
      chain: repriced(PRICE, NEW_PRICE),
      allow: (lamports) => {
        if (lamports > PRICE) throw new ApiError('insufficient_balance', 'The policy refuses this.');
      },
    });
    expect(await errorOf(execute())).toMatchObject({ code: 'insufficient_balance' });
    expect(await charges()).toEqual([]);
    expect(await signatures()).toBe(0);
    expect(allowed.size).toBe(0);
  });

  it('again and again is refused in the end', async () => {
    const { execute, charges } = await world({ chain: repriced(PRICE, PRICE) });
    await errorOf(execute());
    expect(await charges()).toEqual([]);
  });
});

it('a changed treasury is read when the program refuses the one before, and the run is paid [MON-20]', async () => {
  const [before, after] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const terms = { admin: before, treasury: before, authorities: [], minQueryPriceLamports: 1n, feeBps: 250 };
  const names = (message: MessageV0) => message.staticAccountKeys.map((key) => key.toBase58());
  const { execute, sent } = await world({
    protocol: { current: async () => terms, refreshed: async () => ({ ...terms, treasury: after }) },
    chain: {
      simulate: async (message) => ({
        error: names(message).includes(after.toBase58()) ? null : { InstructionError: [1, { Custom: 2001 }] },
        logs: [],
      }),
    },
  });
  expect(await execute()).toMatchObject({ status: 'completed', costLamports: PRICE });
  const [signedBytes] = sent;
  const { message } = VersionedTransaction.deserialize(signedBytes ?? new Uint8Array());
  expect(names(message as MessageV0)).toContain(after.toBase58());
});

describe('an external signer of the authority', () => {
  const TOKEN = 'a-token-of-the-signer';
  const key = Keypair.generate();

  it('signs the charge of a run [MON-20]', async () => {
    const service = await startSigningService([key], TOKEN);
    const authority = createHttpSigner({ url: service.url, token: TOKEN, publicKey: key.publicKey });
    const { execute, charges, sent } = await world({ authority });
    expect(await execute()).toMatchObject({ status: 'completed', costLamports: PRICE });
    expect(await charges()).toMatchObject([{ state: 'confirmed' }]);
    const { message, signatures } = VersionedTransaction.deserialize(sent[0] ?? new Uint8Array());
    const [signature = new Uint8Array()] = signatures;
    const signed = { message: message.serialize(), signature, publicKey: key.publicKey.toBytes() };
    expect(verifySignature(signed)).toBe(true);
    await service.close();
  });

  it('that does not sign leaves the run uncharged, and its output inside', async () => {
    const service = await startSigningService([], TOKEN);
    const authority = createHttpSigner({ url: service.url, token: TOKEN, publicKey: key.publicKey });
    const { execute, charges, sent, hasCredit } = await world({ authority });
    expect(await errorOf(execute())).toMatchObject({ code: 'service_unavailable' });
    expect(await charges()).toEqual([]);
    expect(await hasCredit()).toBe(false);
    expect(sent).toEqual([]);
    await service.close();
  });
});

describe('lamports that are missing for charges', () => {
  const missing = {
    requireForCharge: () => {
      throw new ApiError('service_unavailable', 'The service takes no Per-Task runs at the moment.');
    },
  };

  it('refuse a run that would be charged, before its agent is asked: nothing is reserved or signed [MON-20]', async () => {
    let isAsked = false;
    const { execute, charges, sent, allowed } = await world({
      funds: missing,
      agent: async (work) => {
        isAsked = true;
        return answering(work);
      },
    });
    expect(await errorOf(execute())).toMatchObject({ code: 'service_unavailable' });
    expect(isAsked).toBe(false);
    expect(await charges()).toEqual([]);
    expect(sent).toEqual([]);
    expect(allowed.size).toBe(0);
  });

  it('do not keep a charge in flight from landing', async () => {
    let isMissing = false;
    const { execute, charges } = await world({
      funds: { requireForCharge: () => (isMissing ? missing.requireForCharge() : undefined) },
      agent: async (work) => {
        isMissing = true;
        return answering(work);
      },
    });
    expect(await execute()).toMatchObject({ status: 'completed', costLamports: PRICE });
    expect(await charges()).toMatchObject([{ state: 'confirmed' }]);
  });
});

it('charges that keep failing on-chain are not made any more for an hour: the authority would pay for each [MON-7]', async () => {
  const { execute, signatures, reconcile } = await world({
    balanceLamports: 100n * PRICE,
    chain: {
      waitForConfirmation: async () => failedBy(6101, 'finalized'),
      statuses: async (all) => all.map(() => failedBy(6101, 'finalized')),
    },
  });
  const codes: string[] = [];
  for (let run = 0; run < 5; run += 1) {
    codes.push((await errorOf(execute({ idempotencyKey: undefined }))).code);
    await reconcile();
  }
  expect(codes.slice(3)).toEqual(['service_unavailable', 'service_unavailable']);
  expect(await signatures()).toBe(3);
});
