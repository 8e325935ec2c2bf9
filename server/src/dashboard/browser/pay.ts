/**
 * The script of the rental's page: pays with a wallet of this browser. The transaction is checked by the sdk before the wallet
 * is asked: it does what this page says and takes no more.
 */
import { createClient } from '@agent-rental/sdk';
import {
  renew,
  rent,
  topUp,
  walletStandardSigner,
  type DecodedQuote,
  type WalletSigner,
} from '@agent-rental/sdk/solana';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { readPayment, type Payment } from './payment.js';

const NEEDED = ['standard:connect', 'solana:signTransaction', 'solana:signMessage'] as const;

interface Connect {
  connect(): Promise<{ accounts: readonly WalletAccount[] }>;
}

const section = document.querySelector<HTMLElement>('#pay');
if (section) offer(section);

/** Shows the wallets that can pay, also those that come later. */
function offer(root: HTMLElement): void {
  const list = part(root, '#wallets');
  const wallets = getWallets();
  const show = () => {
    const able = wallets.get().filter(({ features }) => NEEDED.every((name) => name in features));
    list.replaceChildren(...able.map((wallet) => walletButton(root, wallet)));
    if (able.length === 0) say(root, 'No Solana wallet was found in this browser.');
    else say(root, '');
  };
  wallets.on('register', show);
  wallets.on('unregister', show);
  show();
  root.hidden = false;
}

function walletButton(root: HTMLElement, wallet: Wallet): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = `Pay with ${wallet.name.slice(0, 40)}`;
  button.addEventListener('click', () => {
    const buttons = root.querySelectorAll('button');
    for (const one of buttons) one.disabled = true;
    pay(root, wallet)
      .then(
        (text) => say(root, text),
        (error: unknown) => say(root, `Nothing was rented. ${wordsOf(error)}`),
      )
      .finally(() => {
        for (const one of buttons) one.disabled = false;
      })
      .catch(() => undefined);
  });
  return button;
}

/** Logs in, checks and signs the transaction, and gives what to say in the end. */
async function pay(root: HTMLElement, wallet: Wallet): Promise<string> {
  const [window] = root.querySelector<HTMLSelectElement>('#duration')?.selectedOptions ?? [];
  const payment = readPayment(root.dataset, {
    deposit: root.querySelector<HTMLInputElement>('#deposit')?.value,
    window: window && { seconds: window.value, priceLamports: window.dataset['price'] },
  });
  say(root, `Waiting for ${wallet.name} to connect.`);
  const { connect } = wallet.features['standard:connect'] as Connect;
  const { accounts } = await connect();
  const [account] = accounts;
  if (!account) throw new Error(`${wallet.name} shared no account.`);
  const signer = walletStandardSigner(wallet, account, payment.chain);
  const client = createClient({ baseUrl: location.origin, signer });
  say(root, `${wallet.name} asks you to sign a message: it logs you in, and pays nothing.`);
  const { status } = await client.verifyCredential(payment.listingId);
  if (payment.model === 'one_time' && status === 'active') return 'You have rented this agent already.';
  const approve = (quote: DecodedQuote) => {
    say(root, `${wallet.name} asks you to sign: at most ${solOf(quote.total_lamports)} leave your wallet.`);
    return true;
  };
  await send(client, signer, payment, status === 'not_found', { approve });
  return 'Done: the rental is paid and works. The agent that gave you this link can go on.';
}

function send(
  client: ReturnType<typeof createClient>,
  signer: WalletSigner,
  payment: Payment,
  isNew: boolean,
  options: { approve: (quote: DecodedQuote) => boolean },
): Promise<unknown> {
  const { listingId, model, priceLamports: max_price_lamports } = payment;
  switch (model) {
    case 'one_time':
      return rent(client, signer, listingId, { max_price_lamports }, options);
    case 'subscription': {
      const terms = { duration_seconds: payment.durationSeconds, max_price_lamports };
      return (isNew ? rent : renew)(client, signer, listingId, terms, options);
    }
    case 'per_query': {
      const { depositLamports } = payment;
      return isNew
        ? rent(client, signer, listingId, { deposit_lamports: depositLamports, max_price_lamports }, options)
        : topUp(client, signer, listingId, { amount_lamports: depositLamports, max_price_lamports }, options);
    }
    default:
      return model satisfies never;
  }
}

function part(root: HTMLElement, selector: string): HTMLElement {
  const found = root.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`The page lacks ${selector}.`);
  return found;
}

function say(root: HTMLElement, text: string): void {
  part(root, '#pay-status').textContent = text;
}

const solOf = (lamports: number): string => `${(lamports / 1e9).toFixed(9).replace(/\.?0+$/, '')} SOL`;

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
