import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import bs58 from 'bs58';

/** DER header of an ed25519 private key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The key holds no funds. */
const SEED = Buffer.alloc(32, 'agent-rental stand-in');

/** A signer, as a wallet offers it. */
export interface StandInWallet {
  /** Base58. */
  readonly address: string;
  signMessage(message: Uint8Array): Promise<Uint8Array>;
  signTransaction(wire: Uint8Array): Promise<Uint8Array>;
}

const privateKey = createPrivateKey({
  key: Buffer.concat([PKCS8_PREFIX, SEED]),
  format: 'der',
  type: 'pkcs8',
});
const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);

/** The wallet of the stand-in's API key. It signs the transactions that it receives. */
export const STAND_IN_WALLET = bs58.encode(publicKey);

/** A signer for the wallet of the stand-in's API key. */
export function standInWallet(): StandInWallet {
  return {
    address: STAND_IN_WALLET,
    signMessage: async (message) => new Uint8Array(sign(null, message, privateKey)),
    signTransaction: async (wire) => {
      const { VersionedTransaction } = await import('@solana/web3.js');
      const transaction = VersionedTransaction.deserialize(wire);
      const own = transaction.message.staticAccountKeys.findIndex(
        (key) => key.toBase58() === STAND_IN_WALLET,
      );
      transaction.signatures[own] = new Uint8Array(sign(null, transaction.message.serialize(), privateKey));
      return transaction.serialize();
    },
  };
}
