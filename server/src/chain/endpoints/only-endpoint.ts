import { createFinality } from '../finality.js';
import type { ChainSource } from './source.js';
import { createOnlyEndpoint } from './endpoint.js';
import { unreachable } from './unreachable.js';

/** Reads and writes the chain by one endpoint, whose word is all there is. */
export function createOnlySource(url: string): ChainSource {
  const endpoint = createOnlyEndpoint(url);
  const { rpc, connection } = endpoint;
  const finality = createFinality((call) => call(endpoint));
  const accounts: ChainSource['accounts'] = async (addresses, commitment) => {
    const level = commitment === 'current' ? await finality.level() : commitment;
    const found = await rpc.getMultipleAccounts(addresses, level);
    return { slot: BigInt(found.slot), accounts: found.accounts, isFinal: level === 'finalized' };
  };
  return {
    finality,
    only: endpoint,
    first: (call) => call(endpoint),
    accounts,
    accountsOfTwo: (addresses) => accounts(addresses, 'current'),
    statuses: async (signatures, searchHistory) =>
      (await rpc.getSignatureStatuses(signatures, searchHistory)).statuses.map(finality.judge),
    finalizedHeight: () => connection.getBlockHeight('finalized'),
    async send(signedBytes) {
      await connection.sendRawTransaction(signedBytes, { skipPreflight: true, maxRetries: 0 });
    },
    requireOneCluster: () =>
      connection.getGenesisHash().catch((cause: unknown) => {
        throw new Error(unreachable([new URL(url).host]), { cause });
      }),
    stats: () => ({ endpoints: [], disputes: 0 }),
  };
}
