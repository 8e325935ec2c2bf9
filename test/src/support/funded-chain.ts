import { Keypair } from '@solana/web3.js';
import type { FundedChain } from '@agent-rental/server/testing';
import { localChain } from '../program-clients/chains/local-chain.js';
import { surfnet, surfnetRunsHere } from '../program-clients/chains/surfnet.js';

/** A separate chain with the program. It is Surfnet where Surfnet runs: its transactions take as long as a node's. */
export async function startFundedChain(
  which: 'surfnet where it runs' | 'local-chain' = 'surfnet where it runs',
): Promise<FundedChain & { readonly name: string; close(): Promise<void> }> {
  const kind = which !== 'local-chain' && surfnetRunsHere ? surfnet : localChain;
  const upgradeAuthority = Keypair.generate();
  const chain = await kind.start(upgradeAuthority);
  return {
    name: chain.name,
    rpcUrl: chain.rpcUrl,
    wsUrl: chain.wsUrl,
    upgradeAuthority,
    fund: (address, lamports) => chain.airdrop(address, BigInt(lamports)),
    close: () => chain.close(),
  };
}
