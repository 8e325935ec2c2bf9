import * as z from 'zod';
import { walletAddress } from '../primitives.js';

/**
 * Answer of `GET /v1/network`: the chain and the program that a marketplace uses. It is what the service says of itself: a
 * client that pays compares the program with the one that it was set up for, and never takes it from here.
 */
export const network = z
  .object({
    network: z.enum(['localnet', 'devnet', 'mainnet']),
    /** The marketplace program, in base58. */
    program_id: walletAddress,
    /** The cluster's genesis hash, in base58, as `getGenesisHash` of its RPC gives it. */
    genesis_hash: z.string(),
    /** An RPC endpoint of that cluster which anybody may use; null where the service knows none. */
    rpc_url: z.url().nullable(),
    /** The address of the program's `Protocol` account. */
    protocol_account: walletAddress,
  })
  // Not "Network": generators name the object after its schema, and the member would have the same name.
  .meta({ id: 'NetworkInUse' });
export type Network = z.infer<typeof network>;
