import { findProtocolAddress, initializeProtocol } from '@agent-rental/program-client';
import {
  Connection,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  Transaction,
  type PublicKey,
} from '@solana/web3.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedKeys } from './keypairs.js';

const FUNDS_SOL = { authority: 100, upgradeAuthority: 10, admin: 1, treasury: 1 } as const;
const POLL_MS = 50;

/** Makes the local chain's program ready: funds the marketplace's own keys and creates the protocol account. Repeatable. */
export async function initializeLocalProtocol(
  rpcUrl: string,
  wsUrl: string,
  keys: EmbeddedKeys,
  programId: PublicKey,
): Promise<void> {
  // Each step needs the one before it in a block; only the last one has to be final.
  const connection = new Connection(rpcUrl, { commitment: 'processed', wsEndpoint: wsUrl });
  for (const [name, sol] of Object.entries(FUNDS_SOL)) {
    const address = keys[name as keyof typeof FUNDS_SOL].publicKey;
    if ((await connection.getBalance(address)) >= (sol * LAMPORTS_PER_SOL) / 2) continue;
    const signature = await connection.requestAirdrop(address, sol * LAMPORTS_PER_SOL);
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
  }
  const { address } = findProtocolAddress(programId);
  if ((await connection.getAccountInfo(address)) === null) {
    const instruction = initializeProtocol({
      upgradeAuthority: keys.upgradeAuthority.publicKey,
      admin: keys.admin.publicKey,
      authority: keys.authority.publicKey,
      treasury: keys.treasury.publicKey,
      programId,
    });
    await sendAndConfirmTransaction(connection, new Transaction().add(instruction), [keys.upgradeAuthority]);
  }
  while ((await connection.getAccountInfo(address, 'finalized')) === null) await sleep(POLL_MS);
}
