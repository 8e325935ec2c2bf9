import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain, type LocalChain } from '@agent-rental/local-chain';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { Connection, Keypair } from '@solana/web3.js';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
let chain: LocalChain | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sbpf-'));
});
afterEach(async () => {
  await chain?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A chain that takes sBPF v3 alone, as clusters do (SIMD-0500). */
async function startWith(soPath: string): Promise<void> {
  const upgradeAuthority = Keypair.generate().publicKey.toBase58();
  chain = await startLocalChain({
    consensus: 'tower',
    stateDir: join(folder, 'chain'),
    rpcPort: 0,
    requiresSbpfV3: true,
    programs: [{ programId: MARKETPLACE_PROGRAM_ID.toBase58(), soPath, upgradeAuthority }],
  });
}

test('a chain that requires sBPF v3 takes the committed program', async () => {
  await startWith(marketplaceSoPath());
  const connection = new Connection(chain?.rpcUrl ?? '', 'processed');
  const account = await connection.getAccountInfo(MARKETPLACE_PROGRAM_ID);
  expect(account?.executable).toBe(true);
});

test('and refuses a program of an older version', async () => {
  const so = await readFile(marketplaceSoPath());
  so.writeUInt32LE(0, 48);
  const soPath = join(folder, 'older.so');
  await writeFile(soPath, so);
  await expect(startWith(soPath)).rejects.toThrow(/is not sBPF v3 \(SIMD-0500\)/);
});
