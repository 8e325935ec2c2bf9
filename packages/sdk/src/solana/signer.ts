import { VersionedTransaction, type Keypair } from '@solana/web3.js';
import nacl from 'tweetnacl';
import type { MessageSigner } from '../login.js';

/** Whoever can sign transactions and messages for a wallet; a wallet-standard account fits it. */
export interface WalletSigner extends MessageSigner {
  /** Adds the wallet's signature; takes and gives the wire form. */
  signTransaction(transaction: Uint8Array): Promise<Uint8Array>;
}

/** Signs with a key held in memory, as scripts and agents do. */
export function keypairSigner(keypair: Keypair): WalletSigner {
  return {
    address: keypair.publicKey.toBase58(),
    signMessage: async (message) => nacl.sign.detached(message, keypair.secretKey),
    signTransaction: async (wire) => {
      const transaction = VersionedTransaction.deserialize(wire);
      transaction.sign([keypair]);
      return transaction.serialize();
    },
  };
}
