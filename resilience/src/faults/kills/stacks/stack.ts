import type { Connection, PublicKey } from '@solana/web3.js';
import { Client } from 'pg';
import type { SupervisedServer } from './supervised-server.js';

export const PARTS = ['server', 'chain', 'postgres', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** `embedded`: the parts of `npm start`. `production`: PostgreSQL, Redis and a server under a supervisor. */
export const STACKS = ['embedded', 'production'] as const;
export type StackName = (typeof STACKS)[number];

/** The parts of a stack that can be killed. Production's chain cannot. */
export const PARTS_OF: Readonly<Record<StackName, readonly Part[]>> = {
  embedded: ['server', 'chain', 'postgres'],
  production: ['server', 'postgres', 'redis'],
};

/** A marketplace whose killed parts come back at the same addresses. */
export interface Stack {
  readonly name: StackName;
  /** For the support of the end-to-end tests. */
  readonly dev: { readonly base_url: string; readonly rpc_url: string };
  readonly connection: Connection;
  readonly treasury: PublicKey;
  readonly folders: readonly string[];
  readonly server: SupervisedServer;
  pidOf(part: Part): Promise<number>;
  query<T extends object>(text: string, values?: unknown[]): Promise<T[]>;
  /** Advances the chain until its confirmed transactions are final. */
  finalize(): Promise<void>;
  close(): Promise<void>;
}

/** Queries a database that may be killed, with a new connection for each query. */
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
