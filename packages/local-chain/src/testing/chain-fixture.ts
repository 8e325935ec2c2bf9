import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, Keypair, type PublicKey } from '@solana/web3.js';
import type { LocalChainOptions, LogEntry } from '../options.js';
import { startLocalChain, type LocalChain } from '../supervisor.js';

export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'local-chain-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface RpcAnswer {
  jsonrpc: string;
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

export interface ChainFixture {
  chain: LocalChain;
  /** Commitment `confirmed`. */
  connection: Connection;
  stateDir: string;
  logs: LogEntry[];
  /** Calls a method as any client could. */
  rpc: (method: string, ...params: unknown[]) => Promise<RpcAnswer>;
  post: (body: string) => Promise<{ status: number; text: string }>;
  fundedWallet: (lamports: number) => Promise<Keypair>;
  stop: () => Promise<void>;
}

/** A chain on free ports. Without a `stateDir` its folder is removed with it. */
export async function startFixture(overrides: Partial<LocalChainOptions> = {}): Promise<ChainFixture> {
  const folder = overrides.stateDir === undefined ? temporaryFolder() : null;
  const stateDir = overrides.stateDir ?? folder?.path ?? '';
  const logs: LogEntry[] = [];
  const chain = await startLocalChain({
    rpcPort: 0,
    programs: [],
    // A landed transaction is `confirmed` at once.
    consensus: 'tower',
    onLog: (entry) => logs.push(entry),
    ...overrides,
    stateDir,
  }).catch((error: unknown) => {
    folder?.remove();
    throw error;
  });
  const connection = new Connection(chain.rpcUrl, 'confirmed');
  const post = async (body: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(chain.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return { status: response.status, text: await response.text() };
  };
  return {
    chain,
    connection,
    stateDir,
    logs,
    post,
    rpc: async (method, ...params) => {
      const { text } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
      return JSON.parse(text) as RpcAnswer;
    },
    fundedWallet: async (lamports) => {
      const wallet = Keypair.generate();
      await airdrop(connection, wallet.publicKey, lamports);
      return wallet;
    },
    stop: async () => {
      await chain.close();
      folder?.remove();
    },
  };
}

/** Lamports from the faucet. An answer means that they are there: no websocket is needed, which would outlive a chain. */
export async function airdrop(connection: Connection, to: PublicKey, lamports: number): Promise<string> {
  const signature = await connection.requestAirdrop(to, lamports);
  const { value } = await connection.getSignatureStatus(signature);
  if (value?.confirmationStatus !== 'confirmed') throw new Error('the airdrop is not confirmed');
  return signature;
}
