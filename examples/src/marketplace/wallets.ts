import { Keypair, LAMPORTS_PER_SOL, type Connection } from '@solana/web3.js';
import type { ExamplesFolder } from './examples-folder.js';
import { waitFor } from './wait-for.js';

/** Below this a wallet gets an airdrop: all that the examples pay for costs a fraction of it. */
const LOW_LAMPORTS = 2 * LAMPORTS_PER_SOL;
const AIRDROP_LAMPORTS = 10 * LAMPORTS_PER_SOL;

/**
 * Loads a wallet from its keypair file (the format of the Solana command line), or makes one.
 *
 * @throws Error when the file is not a keypair.
 */
export async function loadWallet(folder: ExamplesFolder, file: string): Promise<Keypair> {
  const written = await folder.read(file);
  if (written === undefined) {
    const keypair = Keypair.generate();
    await folder.write(file, JSON.stringify([...keypair.secretKey]));
    return keypair;
  }
  try {
    return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(written) as number[]));
  } catch (error) {
    throw new Error(`${folder.path(file)} is not a keypair file.`, { cause: error });
  }
}

/**
 * Asks the local chain for lamports when a wallet has few. Tells whether it did.
 *
 * @throws Error when the chain cannot be reached, or the airdrop fails.
 */
export async function fundWallet(connection: Connection, wallet: Keypair): Promise<boolean> {
  const balance = await connection.getBalance(wallet.publicKey, 'finalized').catch((cause: unknown) => {
    throw new Error(
      `The Solana RPC at ${connection.rpcEndpoint} could not be reached. Check SOLANA_RPC_URL.`,
      { cause },
    );
  });
  if (balance >= LOW_LAMPORTS) return false;
  const signature = await connection.requestAirdrop(wallet.publicKey, AIRDROP_LAMPORTS);
  await waitFor('the airdrop', async () => {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err != null) throw new Error('The airdrop failed.');
    return value?.confirmationStatus === 'finalized' || undefined;
  });
  return true;
}
