import * as z from 'zod';
import { lamports, walletAddress } from '../primitives.js';

/**
 * Answer of `GET /v1/network`: the chain and the program that a marketplace uses. The service makes this statement about
 * itself. A paying client compares the program with its own setting, and never takes the program from here.
 */
export const network = z
  .object({
    network: z.enum(['localnet', 'devnet', 'mainnet']),
    /** The marketplace program, in base58. */
    program_id: walletAddress,
    /** The cluster's genesis hash, in base58, as `getGenesisHash` of its RPC gives it. */
    genesis_hash: z.string(),
    /** A public RPC endpoint of that cluster; null where the service knows none. */
    rpc_url: z.url().nullable(),
    /** The address of the program's `Protocol` account. */
    protocol_account: walletAddress,
    /** The wallet that payments of single calls go to. */
    payment_recipient: walletAddress,
    /** The protocol's fee in hundredths of a percent. It goes off the creator's earnings. */
    fee_bps: z.int().min(0).max(10_000),
    /** The least price of a Per-Task listing. */
    min_query_price_lamports: lamports,
    /** Tools of manifests that this marketplace does not serve, with the reasons. */
    unserved_tools: z.array(z.object({ name: z.string(), reason: z.string() })),
  })
  // Not "Network": generators name the object after its schema, and the member would have the same name.
  .meta({ id: 'NetworkInUse' });
export type Network = z.infer<typeof network>;
