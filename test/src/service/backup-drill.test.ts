import { execFile } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@agent-rental/sdk';
import { rent } from '@agent-rental/sdk/solana';
import { backUp } from '@agent-rental/server/testing';
import { Connection } from '@solana/web3.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { balanceOnChain } from '../support/renter.js';

const BACKUP = fileURLToPath(new URL('../../../server/dist/embedded/backup/main.js', import.meta.url));
const RECONCILE = fileURLToPath(new URL('../../../server/dist/reconciliation/main.js', import.meta.url));
const DEPOSIT = 10_000_000;

interface Ended {
  code: number;
  output: string;
}

/** Runs a command of the repository on a state folder, as its script does. */
function run(stateDir: string, ...command: string[]): Promise<Ended> {
  const env = { PATH: process.env['PATH'], STATE_DIR: stateDir };
  return new Promise((resolve) => {
    execFile(process.execPath, command, { env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
    );
  });
}

let folder: string;
let stateDir: string;
let restoredDir: string;
let marketplace: OwnMarketplace | undefined;
let renter: Participant;
beforeAll(async () => {
  folder = await newStateDir();
  stateDir = join(folder, 'state');
  restoredDir = join(folder, 'restored');
  marketplace = await startMarketplace(stateDir);
  renter = await newParticipant(marketplace);
}, 120_000);
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(folder);
});

/** A charged run under a new key; the same key gives the same run. */
async function charged(at: OwnMarketplace, key: string) {
  const client = createClient({ baseUrl: at.dev.base_url, signer: renter.signer });
  const { agent_id, task, input } = (await at.request('per_query')) as {
    agent_id: string;
    task: string;
    input: Record<string, string>;
  };
  return client.execute({ agent_id, task, input }, { idempotencyKey: key });
}

test('a marketplace is copied while it works, lost, and restored: nothing that was paid is lost, and nothing is paid twice [OPS-79, OPS-80]', async () => {
  const first = marketplace as OwnMarketplace;
  const { id } = first.listing('per_query');
  const price = (await renter.client.getListing(id)).price_lamports;
  await rent(renter.client, renter.signer, id, { deposit_lamports: DEPOSIT });
  const before = await charged(first, 'before');

  // Runs go on all the time, and one is charged between the copies of database and chain.
  const over = new AbortController();
  const busy = (async () => {
    let runs = 0;
    for (; !over.signal.aborted; runs += 1)
      expect(await charged(first, `busy-${runs}`)).toMatchObject({ status: 'completed' });
    return runs;
  })();
  const backup = join(folder, 'backup');
  await backUp(stateDir, backup, async (step) => {
    if (step !== 'Copying the chain') return;
    expect(await charged(first, 'between')).toMatchObject({ status: 'completed' });
    over.abort();
    await busy;
  });
  const runs = await busy;
  expect(runs).toBeGreaterThan(0);
  expect(await balanceOnChain(first, renter.wallet.publicKey)).toBe(BigInt(DEPOSIT - (runs + 2) * price));

  await first.kill();
  marketplace = undefined;
  await rm(stateDir, { recursive: true });
  expect(await run(restoredDir, BACKUP, 'restore', backup)).toMatchObject({ code: 0 });
  const second = await startMarketplace(restoredDir);
  marketplace = second;

  // The chain has every charge, and the index equals the chain.
  const left = DEPOSIT - (runs + 2) * price;
  expect(await balanceOnChain(second, renter.wallet.publicKey)).toBe(BigInt(left));
  const client = createClient({ baseUrl: second.dev.base_url, signer: renter.signer });
  expect(await client.verifyCredential(id)).toMatchObject({ valid: true, balance_lamports: left });
  // A run in the backup is answered again and not paid again; the next run is paid once.
  expect(await charged(second, 'before')).toEqual(before);
  // A run that was under way while the database was copied is charged and not delivered there: a free run makes it good.
  const { cost_lamports: cost } = await charged(second, 'after');
  expect([0, price]).toContain(cost);
  expect(await charged(second, 'after-that')).toMatchObject({ status: 'completed', cost_lamports: price });
  expect(await balanceOnChain(second, renter.wallet.publicKey)).toBe(BigInt(left - cost - price));
  // The run that only the chain knows is told to the operator, and nothing else is, once the last charges are final on-chain.
  const chain = new Connection(second.dev.rpc_url);
  const slot = await chain.getSlot('confirmed');
  await expect.poll(() => chain.getSlot('finalized'), { timeout: 60_000 }).toBeGreaterThanOrEqual(slot);
  const differences = async () => {
    const { output } = await run(restoredDir, RECONCILE, '--json');
    return [...new Set((JSON.parse(output) as { open: { kind: string }[] }).open.map(({ kind }) => kind))];
  };
  await expect.poll(differences, { timeout: 60_000 }).toEqual(['unknown_charge']);
}, 180_000);

test('a stopped marketplace is copied, too, and a restore overwrites nothing and takes no damaged copy [OPS-79]', async () => {
  await marketplace?.stop();
  marketplace = undefined;
  const backup = join(folder, 'stopped');
  expect(await run(restoredDir, BACKUP, 'backup', backup)).toMatchObject({ code: 0 });
  const again = await run(restoredDir, BACKUP, 'backup', backup);
  expect(again).toMatchObject({ code: 1 });
  expect(again.output).toContain('is there already');
  const onto = await run(restoredDir, BACKUP, 'restore', backup);
  expect(onto).toMatchObject({ code: 1 });
  expect(onto.output).toContain('nothing in it is overwritten');

  const other = join(folder, 'other');
  expect(await run(other, BACKUP, 'restore', backup)).toMatchObject({ code: 0 });
  marketplace = await startMarketplace(other);
  expect(await charged(marketplace, 'from-the-stopped-one')).toMatchObject({ status: 'completed' });

  await writeFile(join(backup, 'state/keys/authority.json'), '[]');
  const damaged = await run(join(folder, 'third'), BACKUP, 'restore', backup);
  expect(damaged).toMatchObject({ code: 1 });
  expect(damaged.output).toContain('state/keys/authority.json is damaged');
  expect(await readdir(folder)).not.toContain('third');
  expect(await run(join(folder, 'third'), BACKUP, 'restore', folder)).toMatchObject({ code: 1 });
  expect(await run(join(folder, 'third'), BACKUP, 'backup', join(folder, 'nothing'))).toMatchObject({
    code: 1,
  });
}, 180_000);
