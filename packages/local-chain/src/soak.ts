/**
 * A long run against a real chain process: transfers over HTTP, then `kill -9` and a restart. It measures memory and the
 * time of the restart. It prints one JSON line per step and exits non-zero when a bound is broken.
 *
 * `node dist/soak.js [transactions]`, default 100,000. Linux only: memory is read from `/proc`.
 */
import { createPrivateKey, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair, type PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js';
import { startLocalChain, type LocalChain } from './index.js';

const RECIPIENTS = 500;
const CONCURRENCY = 8;
const REPORTS = 10;
const MAX_RESTART_MS = 5_000;
/** Limit of the history index's memory per 100,000 transactions, measured after a collection, before and after the restart. */
const MAX_RETAINED_MEBIBYTES_PER_100K = 32;
/** How far the collector may let the running process's resident memory swing above its warm level. */
const MAX_SWING_MEBIBYTES = 64;

interface Answer {
  result?: unknown;
  error?: { message: string };
}

async function call(chain: LocalChain, method: string, params: unknown[]): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(chain.rpcUrl, { method: 'POST', body });
  return (await response.json()) as Answer;
}

/** Signs transfers much faster than web3.js can: one message, patched and signed by OpenSSL. */
function transferSigner(payer: Keypair): (to: PublicKey, lamports: number, blockhash: string) => string {
  const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, payer.secretKey.subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  });
  return (to, lamports, recentBlockhash) => {
    const instruction = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash,
      instructions: [instruction],
    })
      .compileToLegacyMessage()
      .serialize();
    return Buffer.concat([Buffer.from([1]), sign(null, message, key), message]).toString('base64');
  };
}

function residentMebibytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1]) / 1024);
}

/**
 * Memory that stays: the resident memory, and the part of it on the JavaScript heap. It leaves out garbage, and also the undo
 * log of the last slots, whose length depends on the speed of the machine.
 */
async function heldMebibytes(chain: LocalChain): Promise<{ resident: number; heap: number }> {
  await call(chain, 'localchain_warp', [{ slots: 64 }]);
  const { result } = await call(chain, 'localchain_memory', []);
  const { rss, heapUsed, external } = result as { rss: number; heapUsed: number; external: number };
  const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  return { resident: mebibytes(rss), heap: mebibytes(heapUsed + external) };
}

function report(step: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(step)}\n`);
}

async function blockhash(chain: LocalChain): Promise<string> {
  const { result } = await call(chain, 'getLatestBlockhash', [{ commitment: 'confirmed' }]);
  return (result as { value: { blockhash: string } }).value.blockhash;
}

async function answersAgain(chain: LocalChain, signature: string): Promise<Answer> {
  for (;;) {
    try {
      return await call(chain, 'getSignatureStatuses', [[signature], { searchTransactionHistory: true }]);
    } catch {
      await delay(10);
    }
  }
}

async function sendMany(chain: LocalChain, total: number): Promise<string> {
  const payer = Keypair.generate();
  const signed = transferSigner(payer);
  for (let index = 0; index < 3; index += 1) {
    await call(chain, 'requestAirdrop', [payer.publicKey.toBase58(), 1_000_000_000_000]);
  }
  const recipients = Array.from({ length: RECIPIENTS }, () => Keypair.generate().publicKey);
  const started = performance.now();
  let sent = 0;
  let done = 0;
  let latest = await blockhash(chain);
  let last = '';
  const sender = async (): Promise<void> => {
    while (sent < total) {
      const number = sent;
      sent += 1;
      if (number % 200 === 0) latest = await blockhash(chain);
      const to = recipients[number % RECIPIENTS] ?? payer.publicKey;
      const { result, error } = await call(chain, 'sendTransaction', [
        signed(to, 1_000_000 + number, latest),
        { encoding: 'base64', skipPreflight: true },
      ]);
      if (typeof result !== 'string') throw new Error(error?.message ?? 'no signature');
      last = result;
      done += 1;
      if (done % (total / REPORTS) !== 0) continue;
      const seconds = (performance.now() - started) / 1000;
      report({
        transactions: done,
        perSecond: Math.round(done / seconds),
        memoryMiB: residentMebibytes(chain.pid),
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sender));
  return last;
}

const total = Math.max(REPORTS, Number(process.argv[2] ?? 100_000));
const stateDir = mkdtempSync(join(tmpdir(), 'local-chain-soak-'));
const chain = await startLocalChain({ stateDir, rpcPort: 0, programs: [], testHooks: true });
try {
  await sendMany(chain, Math.ceil(total / 10 / REPORTS) * REPORTS);
  const warm = await heldMebibytes(chain);
  const last = await sendMany(chain, total);
  const growthMiB = residentMebibytes(chain.pid) - warm.resident;
  const heapGrowthMiB = (await heldMebibytes(chain)).heap - warm.heap;
  process.kill(chain.pid, 'SIGKILL');
  const killedAt = performance.now();
  const { result } = await answersAgain(chain, last);
  const restartMs = Math.round(performance.now() - killedAt);
  const [status] = (result as { value: unknown[] }).value;
  const retainedMiB = (await heldMebibytes(chain)).resident - warm.resident;
  report({ growthMiB, heapGrowthMiB, retainedMiB, restartMs, lastTransactionFound: status !== null });
  const retainable = (MAX_RETAINED_MEBIBYTES_PER_100K * total) / 100_000;
  const isFlat = Math.max(heapGrowthMiB, retainedMiB) <= retainable;
  const bounded = isFlat && growthMiB <= retainable + MAX_SWING_MEBIBYTES;
  if (status === null || restartMs > MAX_RESTART_MS || !bounded) process.exitCode = 1;
} finally {
  await chain.close();
  rmSync(stateDir, { recursive: true, force: true });
}
