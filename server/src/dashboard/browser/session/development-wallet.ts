import { TEST_FUNDS_PATH } from '@agent-rental/contract';
import { Keypair } from '@solana/web3.js';
import { getWallets } from '@wallet-standard/app';
import { fund, keypairWallet } from './keypair-wallet.js';

/** The wallet that the browser keeps for the local chain. */
export const DEVELOPMENT_WALLET = 'Development wallet (test money)';
/** The wallet of a visitor who tries a free first run. It ends with its tab. */
export const GUEST_WALLET = 'Guest wallet of this tab';
/** Where a key lies in the browser's storage, in plain text: it is a key of test money. */
const DEVELOPMENT_ITEM = 'agent-rental-development-wallet';
const GUEST_ITEM = 'agent-rental-guest-wallet';

/**
 * Offers wallets of this browser, to try the marketplace without an extension. They sign each request of the page, and
 * get test money of the local chain at their first use. A marketplace that gives out none has no such wallets.
 */
export function offerDevelopmentWallets(root: HTMLElement | undefined): void {
  if (root?.dataset['testMoney'] === undefined) return;
  const offer = (name: string, storage: () => Storage, item: string) =>
    getWallets().register(
      keypairWallet(
        name,
        () => keptKeypair(storage(), item),
        (address) => fund(address, TEST_FUNDS_PATH),
      ),
    );
  offer(DEVELOPMENT_WALLET, () => localStorage, DEVELOPMENT_ITEM);
  offer(GUEST_WALLET, () => sessionStorage, GUEST_ITEM);
}

/** The key of this browser; a new one where there is none. */
function keptKeypair(storage: Storage, item: string): Keypair {
  try {
    return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(storage.getItem(item) ?? '') as number[]));
  } catch {
    const keypair = Keypair.generate();
    storage.setItem(item, JSON.stringify([...keypair.secretKey]));
    return keypair;
  }
}
