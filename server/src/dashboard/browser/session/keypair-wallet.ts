import { keypairSigner } from '@agent-rental/sdk/solana';
import type { Keypair } from '@solana/web3.js';
import type { Wallet, WalletAccount } from '@wallet-standard/base';

/** The only network of these wallets: the embedded default's, with worthless money. */
const LOCAL_CHAIN = 'solana:localnet';
const ICON = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E';

/**
 * A wallet of the Wallet Standard over a key that this browser keeps. It signs without asking, for the local chain alone.
 *
 * @param onConnect gets the address before a page connects it
 */
export function keypairWallet(
  name: string,
  keptKeypair: () => Keypair,
  onConnect: (address: string) => Promise<void>,
): Wallet {
  const chains = [LOCAL_CHAIN] as const;
  const accountOf = (keypair: Keypair): WalletAccount => ({
    address: keypair.publicKey.toBase58(),
    publicKey: keypair.publicKey.toBytes(),
    chains,
    features: ['solana:signTransaction', 'solana:signMessage'],
  });
  return {
    version: '1.0.0',
    name,
    icon: ICON as Wallet['icon'],
    chains,
    accounts: [],
    features: {
      'standard:connect': {
        version: '1.0.0',
        connect: async ({ silent = false }: { silent?: boolean } = {}) => {
          const keypair = keptKeypair();
          if (!silent) await onConnect(keypair.publicKey.toBase58());
          return { accounts: [accountOf(keypair)] };
        },
      },
      'standard:events': { version: '1.0.0', on: () => () => undefined },
      'solana:signMessage': {
        version: '1.0.0',
        signMessage: async ({ message }: { message: Uint8Array }) => {
          const signature = await keypairSigner(keptKeypair()).signMessage(message);
          return [{ signedMessage: message, signature }];
        },
      },
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signTransaction: async ({
          transaction,
          chain: asked,
        }: {
          transaction: Uint8Array;
          chain?: string;
        }) => {
          if (asked !== LOCAL_CHAIN) throw new Error(`${name} signs for the local chain alone.`);
          return [{ signedTransaction: await keypairSigner(keptKeypair()).signTransaction(transaction) }];
        },
      },
    },
  };
}

/** Asks for the test money of a wallet. @throws Error where it got none. */
export async function fund(wallet: string, path: string): Promise<void> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ wallet }),
  });
  if (!response.ok) throw new Error('This marketplace gave no test money. Try again, or use another wallet.');
}
