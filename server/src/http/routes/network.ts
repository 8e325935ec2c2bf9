import { operations, type Network } from '@agent-rental/contract';
import { findProtocolAddress } from '@agent-rental/program-client';
import type { FastifyInstance } from 'fastify';
import type { Chain, ProtocolReader } from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import { addOperation } from '../operation-route.js';

/** `GET /v1/network`: the chain, the program and its terms, as this marketplace uses them. The cluster is asked once. */
export function networkRoute(
  app: FastifyInstance,
  {
    chain,
    protocol,
    network,
    rpcUrl,
    paymentRecipient,
    unservedTools,
  }: {
    chain: Pick<Chain, 'programId' | 'requireOneCluster'>;
    protocol: Pick<ProtocolReader, 'current'>;
    network: Network['network'];
    /** An RPC endpoint that anybody may use. */
    rpcUrl: string | undefined;
    /** Base58. */
    paymentRecipient: string;
    /** Reasons by the names of tools. */
    unservedTools: Readonly<Record<string, string>>;
  },
): void {
  let genesis: Promise<string> | undefined;
  const unreachable = (cause: unknown) => {
    throw new ApiError('service_unavailable', 'The Solana RPC endpoint cannot be reached.', { cause });
  };
  const genesisHash = () => {
    genesis ??= chain.requireOneCluster().catch((cause: unknown) => {
      genesis = undefined;
      return unreachable(cause);
    });
    return genesis;
  };
  addOperation(app, operations.getNetwork, async () => {
    const [hash, { feeBps, minQueryPriceLamports }] = await Promise.all([
      genesisHash(),
      protocol.current().catch(unreachable),
    ]);
    return {
      network,
      program_id: chain.programId.toBase58(),
      genesis_hash: hash,
      rpc_url: rpcUrl ?? null,
      protocol_account: findProtocolAddress(chain.programId).address.toBase58(),
      payment_recipient: paymentRecipient,
      fee_bps: feeBps,
      min_query_price_lamports: Number(minQueryPriceLamports),
      unserved_tools: Object.entries(unservedTools).map(([name, reason]) => ({ name, reason })),
    };
  });
}
