import { createRequire } from 'node:module';
import { MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { Connection, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { rpcResult } from './json-rpc.js';
import type { TestChain, TestChainKind } from './test-chain.js';

/** The part of Surfpool's native module that is used here; it comes without types. */
interface Surfnet {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  deploy(program: { programId: string; soPath: string }): string;
  /** Returns the queued events; its runtime stops once the queue is full. */
  drainEvents(): unknown[];
  fundSol(address: string, lamports: number): void;
  timeTravelToTimestamp(unixMs: number): unknown;
  stop(): void;
}

interface SurfpoolModule {
  Surfnet: {
    startWithConfig(config: { offline: boolean; blockProductionMode: 'clock'; slotTimeMs: number }): Surfnet;
  };
}

const PACKAGE = '@solana/surfpool-linux-x64-gnu';
/** Short, as each confirmation takes one; a blockhash still lives for 150 of them, 12 seconds. */
const SLOT_TIME_MS = 80;
const DRAIN_INTERVAL_MS = 100;
const UNIX_TIMESTAMP_OFFSET = 32;

/** True where Surfpool ships a binary for this machine; there it must be installed, and its tests run. */
export const surfnetRunsHere = process.platform === 'linux' && process.arch === 'x64';

/** A node without the marketplace, and how a program is brought there. */
interface EmptySurfnet extends TestChain {
  /** Deploys a program as Solana's tools do. Addresses are base58. */
  deploy(program: { programId: string; soPath: string; upgradeAuthority: string }): Promise<void>;
}

/** Surfpool, another implementation of a Solana node, in this process and offline. It checks the embedded chain. */
export const surfnet: TestChainKind = {
  name: 'surfnet',
  async start(upgradeAuthority) {
    const node = startSurfnet();
    await node.deploy({
      programId: MARKETPLACE_PROGRAM_ID.toBase58(),
      soPath: marketplaceSoPath(),
      upgradeAuthority: upgradeAuthority.publicKey.toBase58(),
    });
    return node;
  },
};

/** Starts a node on which no program is deployed yet. */
export function startSurfnet(): EmptySurfnet {
  const { Surfnet: native } = createRequire(import.meta.url)(PACKAGE) as SurfpoolModule;
  const node = native.startWithConfig({
    offline: true,
    blockProductionMode: 'clock',
    slotTimeMs: SLOT_TIME_MS,
  });
  const drain = setInterval(() => node.drainEvents(), DRAIN_INTERVAL_MS);
  const { rpcUrl, wsUrl } = node;
  const connection = new Connection(rpcUrl, { commitment: 'confirmed', wsEndpoint: wsUrl });
  return {
    name: 'surfnet',
    connection,
    rpcUrl,
    wsUrl,
    async deploy({ programId, soPath, upgradeAuthority }) {
      node.deploy({ programId, soPath });
      // `deploy` names no upgrade authority.
      await rpcResult(rpcUrl, 'surfnet_setProgramAuthority', [programId, upgradeAuthority]);
    },
    async airdrop(to, lamports) {
      await connection.requestAirdrop(to, Number(lamports));
    },
    async passTime(seconds) {
      const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY);
      const now = clock?.data.readBigInt64LE(UNIX_TIMESTAMP_OFFSET) ?? 0n;
      node.timeTravelToTimestamp(Number(now + seconds) * 1000);
    },
    close() {
      clearInterval(drain);
      node.stop();
      return Promise.resolve();
    },
  };
}
