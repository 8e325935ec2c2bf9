import type { Connection, Keypair, PublicKey } from '@solana/web3.js';

/** A chain with the marketplace program deployed, seen as any client sees it: through its JSON-RPC and websocket. */
export interface TestChain {
  readonly name: string;
  /** Commitment `confirmed`. */
  readonly connection: Connection;
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Resolves once the lamports are there. */
  airdrop(to: PublicKey, lamports: bigint): Promise<void>;
  /** Moves the chain's clock forward by so many seconds, to about a second. */
  passTime(seconds: bigint): Promise<void>;
  close(): Promise<void>;
}

/** An implementation of the chain. */
export interface TestChainKind {
  readonly name: string;
  /** Starts a new chain with the marketplace deployed by this upgrade authority. */
  start(upgradeAuthority: Keypair): Promise<TestChain>;
}
