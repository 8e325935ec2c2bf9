import { operations, type Network } from '@agent-rental/contract';
import { findProtocolAddress } from '@agent-rental/program-client';
import type { FastifyInstance } from 'fastify';
import type { Chain } from '../../chain/index.js';
import { ApiError } from '../../errors/api-error.js';
import { addOperation } from '../operation-route.js';

/** `GET /v1/network`: the chain and the program that this marketplace uses. The cluster is asked once. */
export function networkRoute(
  app: FastifyInstance,
  {
    chain,
    network,
    rpcUrl,
  }: {
    chain: Pick<Chain, 'programId' | 'requireOneCluster'>;
    network: Network['network'];
    /** An RPC endpoint that anybody may use. */
    rpcUrl: string | undefined;
  },
): void {
  let genesis: Promise<string> | undefined;
  const genesisHash = () => {
    genesis ??= chain.requireOneCluster().catch((cause: unknown) => {
      genesis = undefined;
      throw new ApiError('service_unavailable', 'The Solana RPC endpoint cannot be reached.', { cause });
    });
    return genesis;
  };
  addOperation(app, operations.getNetwork, async () => ({
    network,
    program_id: chain.programId.toBase58(),
    genesis_hash: await genesisHash(),
    rpc_url: rpcUrl ?? null,
    protocol_account: findProtocolAddress(chain.programId).address.toBase58(),
  }));
}
