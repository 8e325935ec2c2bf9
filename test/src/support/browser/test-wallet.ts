import { VersionedTransaction, type Keypair } from '@solana/web3.js';
import nacl from 'tweetnacl';
import type { Page } from 'playwright-core';

/** What a wallet was asked to do. */
export interface AskedWallet {
  messages: string[];
  transactions: number;
  /** Refuses what it is asked from now on. */
  refuses: boolean;
}

/**
 * Gives a page a wallet by the Wallet Standard, which signs in this process. To be called before the page is opened.
 *
 * @param chain as `solana:localnet`
 */
export async function addTestWallet(page: Page, keypair: Keypair, chain: string): Promise<AskedWallet> {
  const asked: AskedWallet = { messages: [], transactions: 0, refuses: false };
  const orRefuse = () => {
    if (asked.refuses) throw new Error('The person said no.');
  };
  await page.exposeFunction('testWalletMessage', (bytes: number[]) => {
    orRefuse();
    asked.messages.push(Buffer.from(bytes).toString());
    return [...nacl.sign.detached(Uint8Array.from(bytes), keypair.secretKey)];
  });
  await page.exposeFunction('testWalletTransaction', (bytes: number[]) => {
    orRefuse();
    asked.transactions += 1;
    const transaction = VersionedTransaction.deserialize(Uint8Array.from(bytes));
    transaction.sign([keypair]);
    return [...transaction.serialize()];
  });
  await page.addInitScript(`{
    const account = {
      address: ${JSON.stringify(keypair.publicKey.toBase58())},
      publicKey: new Uint8Array(${JSON.stringify([...keypair.publicKey.toBytes()])}),
      chains: [${JSON.stringify(chain)}],
      features: ['solana:signTransaction', 'solana:signMessage'],
    };
    const wallet = {
      version: '1.0.0', name: 'Test wallet', icon: 'data:image/svg+xml;base64,', chains: account.chains, accounts: [],
      features: {
        'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
        'standard:events': { version: '1.0.0', on: () => () => undefined },
        'solana:signMessage': { version: '1.0.0', signMessage: async ({ message }) => [
          { signedMessage: message, signature: Uint8Array.from(await testWalletMessage([...message])) }] },
        'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
          signTransaction: async ({ transaction }) => [
            { signedTransaction: Uint8Array.from(await testWalletTransaction([...transaction])) }] },
      },
    };
    const register = (api) => api.register(wallet);
    addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail));
    dispatchEvent(Object.assign(new Event('wallet-standard:register-wallet'), { detail: register }));
  }`);
  return asked;
}
