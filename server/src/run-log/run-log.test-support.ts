import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SignedReceipt } from '@agent-rental/contract';
import { startLocalChain } from '@agent-rental/local-chain';
import { findRunLogAddress, parseRunLogMemo } from '@agent-rental/program-client';
import { verifyReceipt } from '@agent-rental/sdk/receipts';
import { Connection, Keypair, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { pino } from 'pino';
import { createChain, createKeypairSigner, type Chain } from '../chain/index.js';
import type { Db } from '../database/connection.js';
import { deriveKeys } from '../platform/keys.js';
import { firstKeyRing } from '../service-keys/index.js';
import { createReceipts, createRunRepository, receiptOf } from '../runs/index.js';
import { createReceiptSigner, receiptPayload } from '../settlement/index.js';
import { insertListing, insertRun, loginOf, newWallet, openTestDatabase } from '../testing/index.js';
import {
  createBatchSigner,
  createChainLog,
  createRunLog,
  createRunLogPublisher,
  createRunLogRepository,
  leafOf,
} from './index.js';

const logger = pino({ level: 'silent' });
const keys = deriveKeys(new Uint8Array(32).fill(9));
/** Beyond it a slot is final. */
const FINALIZED_AFTER_SLOTS = 33;

/** A local chain whose clock moves only when a test moves it. */
export async function startTestChain() {
  const folder = await mkdtemp(join(tmpdir(), 'run-log-'));
  const localChain = await startLocalChain({
    consensus: 'tower',
    stateDir: folder,
    rpcPort: 0,
    testHooks: true,
    slotTimeMs: 60_000,
    programs: [],
  });
  const rpc = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const answer = (await (await fetch(localChain.rpcUrl, { method: 'POST', headers, body })).json()) as {
      result?: unknown;
      error?: unknown;
    };
    if (answer.error) throw new Error(JSON.stringify(answer.error));
    return answer.result;
  };
  return {
    rpcUrl: localChain.rpcUrl,
    rpc,
    connection: new Connection(localChain.rpcUrl, 'confirmed'),
    warp: (slots: number) => rpc('localchain_warp', { slots }),
    finalize: () => rpc('localchain_warp', { slots: FINALIZED_AFTER_SLOTS }),
    close: async () => {
      await localChain.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
export type TestLocalChain = Awaited<ReturnType<typeof startTestChain>>;

/** Parts that a test puts in the place of real ones. */
type Changed = (
  parts: Parameters<typeof createRunLogPublisher>[0],
) => Parameters<typeof createRunLogPublisher>[0];

/** A database with a listing, an authority with SOL, and a separate run log on the chain. */
export async function runLogWorld(
  local: TestLocalChain,
  { intervalSeconds = 0, mostRuns }: { intervalSeconds?: number; mostRuns?: number } = {},
) {
  const database = await openTestDatabase();
  const { db } = database;
  const authority = Keypair.generate();
  await local.connection.requestAirdrop(authority.publicKey, LAMPORTS_PER_SOL);
  // The address of the log follows from the program, so that no test sees the batches of another one.
  const programId = Keypair.generate().publicKey;
  const chain = createChain(local.rpcUrl, programId);
  const listing = await insertListing(db, { rental_model: 'one_time' });
  const wallet = newWallet();
  const origin = { network: 'localnet', program_id: programId.toBase58() } as const;
  const repository = createRunLogRepository(db, {
    intervalSeconds,
    ...(mostRuns === undefined ? {} : { mostRuns }),
  });
  const parts = {
    chain,
    chainLog: createChainLog({ chain, authorities: async () => [authority.publicKey] }),
    repository,
    signer: createBatchSigner({
      chain,
      authority: createKeypairSigner(authority),
      fees: { latest: () => 0n },
    }),
    leafOf: (run: Parameters<typeof receiptOf>[0]) =>
      leafOf(receiptPayload(receiptOf(run, undefined, origin))),
    logger,
  };
  /** The publisher of one process. */
  const newPublisher = (changed: Changed = (all) => all) => createRunLogPublisher(changed(parts));
  const signer = createReceiptSigner(firstKeyRing(keys));
  const runLog = createRunLog(repository);
  const receipts = createReceipts({
    runs: createRunRepository(db, keys),
    settlement: { paidFor: async () => undefined },
    signer,
    origin,
    logOf: (runId, payloads) => runLog.entryOf(runId, payloads),
    chain,
    authorities: async () => [authority.publicKey],
  });
  const publisher = newPublisher();

  const endRun = async (status: 'completed' | 'failed' | 'undelivered' = 'completed'): Promise<string> => {
    const id = await insertRun(db, { id: listing.id, version_id: listing.version_id }, wallet);
    await db
      .updateTable('runs')
      .set({ status, finished_at: new Date(), input_digest: randomBytes(32), output_digest: randomBytes(32) })
      .where('id', '=', id)
      .execute();
    return id;
  };
  const transactionOf = (signature: string) =>
    local.rpc('getTransaction', signature, {
      commitment: 'finalized',
      encoding: 'base64',
      maxSupportedTransactionVersion: 0,
    });
  return {
    database,
    db,
    chain,
    authority,
    listing,
    wallet,
    programId,
    repository,
    publisher,
    newPublisher,
    endRun,
    /** Takes everything that waits to its end. */
    async settle(by = publisher) {
      for (let rounds = 0; rounds < 12; rounds += 1) {
        await by.round('all');
        await local.finalize();
        await by.round('all');
        if (!(await waiting(db))) return;
      }
      throw new Error('The run log does not end.');
    },
    receipt: (runId: string): Promise<SignedReceipt> => receipts.find(runId, loginOf(wallet)),
    /** Verifies a receipt as its holder does: by keys, transaction, and the authority's address. */
    async verify(runId: string) {
      const answer = await receipts.find(runId, loginOf(wallet));
      const signature = answer.log.status === 'pending' ? undefined : answer.log.signature;
      return verifyReceipt({
        answer: JSON.parse(JSON.stringify(answer)) as unknown,
        jwks: signer.jwks(),
        transaction: signature && (await transactionOf(signature)),
        authorities: [authority.publicKey.toBase58()],
        programId: programId.toBase58(),
      });
    },
    /** Verifies a receipt by the service's evidence, as a page of a browser does. */
    async verifyByEvidence(runId: string) {
      const answer = await receipts.find(runId, loginOf(wallet), true);
      const { evidence } = answer;
      return verifyReceipt({
        answer: JSON.parse(JSON.stringify(answer)) as unknown,
        jwks: signer.jwks(),
        transaction: { meta: { err: null }, transaction: [evidence?.transaction ?? '', 'base64'] },
        authorities: evidence?.authorities ?? [],
        programId: programId.toBase58(),
      });
    },
    /** The log as anyone reads it from the chain: the authority's memos, oldest first. */
    onChain: () => logOnChain(chain, local, findRunLogAddress(programId).address),
    transactionOf,
  };
}
export type RunLogWorld = Awaited<ReturnType<typeof runLogWorld>>;

async function waiting(db: Db): Promise<boolean> {
  const entry = await db
    .selectFrom('run_log_entries')
    .select('seq')
    .where('batch', 'is', null)
    .executeTakeFirst();
  const open = await db
    .selectFrom('run_log_batches')
    .select('number')
    .where('signature', 'is', null)
    .executeTakeFirst();
  return entry !== undefined || open !== undefined;
}

async function logOnChain(chain: Chain, local: TestLocalChain, address: PublicKey) {
  await local.finalize();
  const listed = await chain.memosAt(address, undefined);
  return listed.toReversed().flatMap(({ signature, memo, failed }) => {
    const batch = failed || memo === null ? null : parseRunLogMemo(memo.replace(/^\[\d+\] /, ''));
    return batch ? [{ signature, ...batch }] : [];
  });
}
