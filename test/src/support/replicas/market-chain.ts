import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLocalChain, type LocalChain, type LocalChainOptions } from '@agent-rental/local-chain';
import { initializeProtocol, MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  Transaction,
  type Commitment,
  type PublicKey,
} from '@solana/web3.js';
import { sampleOf } from '../form.js';

const FUNDS_SOL = 100;

/** A chain with the marketplace's protocol on it, in a separate process, which outlives every server. */
export interface MarketChain {
  readonly chain: LocalChain;
  readonly connection: Connection;
  /** The hot authority's keypair. */
  readonly authorityFile: string;
  readonly treasury: PublicKey;
}

type Consensus = NonNullable<LocalChainOptions['consensus']>;

/** How these chains come to finality. Default: drawn by the seed, so that CI plays both in turns. */
export const BATTERY_CONSENSUS = (process.env['LOCAL_CHAIN_CONSENSUS'] ??
  sampleOf(['tower', 'alpenglow'], 1)[0]) as Consensus;

/** Starts it. It forks and moves its clock when it is asked to. */
export async function openChain(stateDir: string, consensus = BATTERY_CONSENSUS): Promise<MarketChain> {
  const newKey = () => Keypair.generate();
  const [authority, upgradeAuthority, admin, treasury] = [newKey(), newKey(), newKey(), newKey()];
  const authorityFile = join(stateDir, 'authority.json');
  await writeFile(authorityFile, JSON.stringify([...authority.secretKey]), { mode: 0o600 });
  const chain = await startLocalChain({
    consensus,
    // As announced for clusters with Alpenglow: nothing may ask for `confirmed`.
    knowsConfirmed: consensus === 'tower',
    stateDir: join(stateDir, 'chain'),
    rpcPort: 0,
    testHooks: true,
    programs: [
      {
        programId: MARKETPLACE_PROGRAM_ID.toBase58(),
        soPath: marketplaceSoPath(),
        upgradeAuthority: upgradeAuthority.publicKey.toBase58(),
      },
    ],
  });
  const connectionAt = (commitment: Commitment) =>
    new Connection(chain.rpcUrl, {
      commitment,
      wsEndpoint: chain.wsUrl,
      // A kept connection may close just when it is used again.
      fetch: async (...asked: Parameters<typeof fetch>) => fetch(...asked).catch(() => fetch(...asked)),
    });
  const opening = connectionAt('processed');
  for (const { publicKey } of [authority, upgradeAuthority, treasury]) {
    await opening.requestAirdrop(publicKey, FUNDS_SOL * LAMPORTS_PER_SOL);
  }
  const initialize = initializeProtocol({
    upgradeAuthority: upgradeAuthority.publicKey,
    admin: admin.publicKey,
    authority: authority.publicKey,
    treasury: treasury.publicKey,
  });
  await sendAndConfirmTransaction(opening, new Transaction().add(initialize), [upgradeAuthority]);
  await finalizeChain(chain);
  return {
    chain,
    connection: connectionAt(consensus === 'tower' ? 'confirmed' : 'finalized'),
    authorityFile,
    treasury: treasury.publicKey,
  };
}

/** Calls a method that no cluster offers, such as to fork. @throws Error with the chain's answer */
export async function askChain<T>(
  { rpcUrl }: Pick<LocalChain, 'rpcUrl'>,
  method: string,
  ...params: object[]
): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const ask = () => fetch(rpcUrl, { method: 'POST', headers, body });
  // A kept connection may close just when it is used again.
  const answer = await ask().catch(ask);
  const { result, error } = (await answer.json()) as { result: T; error?: unknown };
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result;
}

/** More slots than a transaction has to land in, and more than a landed one needs to become final. */
const SLOTS_UNTIL_FINAL = 220;

/** Lets a chain go on until confirmed transactions are final, and unseen ones can land no more. */
export const finalizeChain = (chain: Pick<LocalChain, 'rpcUrl'>): Promise<void> =>
  askChain(chain, 'localchain_warp', { slots: SLOTS_UNTIL_FINAL });
