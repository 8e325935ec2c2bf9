import type { Connection, PublicKey } from '@solana/web3.js';
import { Client } from 'pg';

/** What is killed. */
export const PARTS = ['server', 'chain', 'postgres', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** `embedded`: what `npm start` brings. `production`: PostgreSQL, Redis and a server that a supervisor keeps. */
export const STACKS = ['embedded', 'production'] as const;
export type StackName = (typeof STACKS)[number];

/** The parts of a stack that are processes of its own; the chain of production is not. */
export const PARTS_OF: Readonly<Record<StackName, readonly Part[]>> = {
  embedded: ['server', 'chain', 'postgres'],
  production: ['server', 'postgres', 'redis'],
};

/** A marketplace with parts that can be killed, and that come back at the same addresses. */
export interface Stack {
  readonly name: StackName;
  /** For the support of the end-to-end tests. */
  readonly dev: { readonly base_url: string; readonly rpc_url: string };
  readonly connection: Connection;
  readonly treasury: PublicKey;
  /** Folders that nothing of a run stays in. */
  readonly folders: readonly string[];
  readonly server: {
    readonly pid: number;
    readonly exits: number;
    killAtStep(order: { step: string; after: number; delayMs: number; pid: number }): Promise<void>;
    output(): string;
  };
  /** The process that is the part at the moment. */
  pidOf(part: Part): Promise<number>;
  query<T extends object>(text: string, values?: unknown[]): Promise<T[]>;
  /** Lets the chain go on until what is confirmed is final. */
  finalize(): Promise<void>;
  close(): Promise<void>;
}

/** Queries a database that may be killed: each query has its own connection. */
export function queryOf(url: () => string | undefined): Stack['query'] {
  return async <T extends object>(text: string, values: unknown[] = []) => {
    const client = new Client({ connectionString: url() });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<T>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
}
