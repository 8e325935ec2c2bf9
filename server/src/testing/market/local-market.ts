import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalChain, type LocalChainOptions } from '@agent-rental/local-chain';
import { decodeClock, MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { Connection, Keypair, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { openChargingMarket, type ChargingMarket } from './charging-market.js';
import type { TemporaryDatabase } from '../database.js';

/** Beyond it a slot is final. */
const FINALIZED_AFTER_SLOTS = 33;
/** A blockhash lives for 150 slots; after so many that is final. */
const EXPIRED_AFTER_SLOTS = 200;

/** A market on a separate embedded chain, whose time passes on a test's command. */
export interface TestMarket extends ChargingMarket {
  /** All that has landed becomes final. */
  finalize(): Promise<void>;
  /** All transactions that have not landed can land no more. */
  expire(): Promise<void>;
  /** Moves the chain's clock forward. */
  passTime(seconds: number): Promise<void>;
  /** A fork drops transactions that are not final. */
  drop(...signatures: string[]): Promise<void>;
  /** The chain moves from tower to Alpenglow. */
  migrate(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts it; `close` leaves nothing behind.
 *
 * @param consensus of the chain; with slots that pass by themselves where `slotTimeMs` is given
 */
export async function startTestMarket(
  { db }: TemporaryDatabase,
  { consensus = 'tower', slotTimeMs = 60_000 }: Pick<LocalChainOptions, 'consensus' | 'slotTimeMs'> = {},
): Promise<TestMarket> {
  const stateDir = await mkdtemp(join(tmpdir(), 'settlement-'));
  const upgradeAuthority = Keypair.generate();
  const node = await startLocalChain({
    stateDir,
    rpcPort: 0,
    testHooks: true,
    consensus,
    slotTimeMs,
    programs: [
      {
        programId: MARKETPLACE_PROGRAM_ID.toBase58(),
        soPath: marketplaceSoPath(),
        upgradeAuthority: upgradeAuthority.publicKey.toBase58(),
      },
    ],
  });
  const connection = new Connection(node.rpcUrl, 'confirmed');
  const market = await openChargingMarket(
    {
      rpcUrl: node.rpcUrl,
      wsUrl: node.wsUrl,
      upgradeAuthority,
      fund: async (address, lamports) => void (await connection.requestAirdrop(address, lamports)),
    },
    db,
  );
  async function hook(method: string, ...params: object[]): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const answer = (await (await fetch(node.rpcUrl, { method: 'POST', headers, body })).json()) as object;
    if ('error' in answer) throw new Error(JSON.stringify(answer.error));
  }
  async function warp(slots: number): Promise<void> {
    await hook('localchain_warp', { slots });
    // Signatures from now on are valid.
    await market.chain.latestBlockhash(true);
  }
  return {
    ...market,
    finalize: () => warp(FINALIZED_AFTER_SLOTS),
    expire: () => warp(EXPIRED_AFTER_SLOTS),
    async passTime(seconds) {
      const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY);
      if (!clock) throw new Error('The chain has no clock.');
      await hook('localchain_warp', { unixTimestamp: Number(decodeClock(clock.data)) + seconds });
      await market.chain.latestBlockhash(true);
    },
    drop: (...dropSignatures) => hook('localchain_fork', { dropSignatures }),
    migrate: () => hook('localchain_migrate'),
    close: async () => {
      await node.close();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
