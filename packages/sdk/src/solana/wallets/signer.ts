import { ed25519 } from '@noble/curves/ed25519.js';
import { VersionedTransaction, type Keypair } from '@solana/web3.js';
import type { MessageSigner } from '../../login.js';

/** Signs transactions and messages for a wallet. `walletStandardSigner` makes one from a Wallet Standard account. */
export interface WalletSigner extends MessageSigner {
  /** Adds the wallet's signature; takes and gives the wire form. */
  signTransaction(transaction: Uint8Array): Promise<Uint8Array>;
}

/** The first half of a keypair's secret key. */
const SEED_BYTES = 32;

/** Signs with a key held in memory, as scripts and agents do. */
export function keypairSigner(keypair: Keypair): WalletSigner {
  const seed = keypair.secretKey.subarray(0, SEED_BYTES);
  return {
    address: keypair.publicKey.toBase58(),
    signMessage: async (message) => ed25519.sign(message, seed),
    signTransaction: async (wire) => {
      const transaction = VersionedTransaction.deserialize(wire);
      transaction.sign([keypair]);
      return transaction.serialize();
    },
  };
}
