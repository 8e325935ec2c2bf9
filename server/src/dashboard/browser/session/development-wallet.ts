import { TEST_FUNDS_PATH } from '@agent-rental/contract';
import { keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { getWallets } from '@wallet-standard/app';
import type { IdentifierArray, Wallet, WalletAccount } from '@wallet-standard/base';

/** The only network of this wallet: the embedded default's, with worthless money. */
const CHAIN = 'solana:localnet';
const NAME = 'Development wallet (test money)';
/** Where its key lies in the browser's local storage, in plain text: it is a key of test money. */
const ITEM = 'agent-rental-development-wallet';
const ICON = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E';

/**
 * Offers a wallet of this browser, to try the marketplace without an extension. It signs each request of the page, and
 * gets test money of the local chain at its first use. Other networks have none.
 */
export function offerDevelopmentWallet(chain: string | undefined): void {
  if (chain !== CHAIN) return;
  const chains: IdentifierArray = [CHAIN];
  const accountOf = (keypair: Keypair): WalletAccount => ({
    address: keypair.publicKey.toBase58(),
    publicKey: keypair.publicKey.toBytes(),
    chains,
    features: ['solana:signTransaction', 'solana:signMessage'],
  });
  const wallet: Wallet = {
    version: '1.0.0',
    name: NAME,
    icon: ICON as Wallet['icon'],
    chains,
    accounts: [],
    features: {
      'standard:connect': {
        version: '1.0.0',
        connect: async ({ silent = false }: { silent?: boolean } = {}) => {
          const keypair = keptKeypair();
          if (!silent) await fund(keypair.publicKey.toBase58());
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
          if (asked !== CHAIN) throw new Error(`${NAME} signs for the local chain alone.`);
          return [{ signedTransaction: await keypairSigner(keptKeypair()).signTransaction(transaction) }];
        },
      },
    },
  };
  getWallets().register(wallet);
}

/** The key of this browser; a new one where there is none. */
function keptKeypair(): Keypair {
  try {
    return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(localStorage.getItem(ITEM) ?? '') as number[]));
  } catch {
    const keypair = Keypair.generate();
    localStorage.setItem(ITEM, JSON.stringify([...keypair.secretKey]));
    return keypair;
  }
}

async function fund(wallet: string): Promise<void> {
  const response = await fetch(TEST_FUNDS_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ wallet }),
  });
  if (!response.ok) throw new Error('This marketplace gave no test money. Try again, or use another wallet.');
}
