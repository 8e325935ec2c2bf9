import type { SignInInput } from '@agent-rental/contract';
import { TransactionMessage, VersionedTransaction, type Keypair } from '@solana/web3.js';
import nacl from 'tweetnacl';
import type { Page } from 'playwright-core';

/** The requests that a wallet received. */
export interface AskedWallet {
  messages: string[];
  /** Messages that it wrote itself, by Sign In With Solana. */
  signIns: string[];
  /** How often a page asked it for its accounts, silently or not. */
  connections: number;
  transactions: number;
  /** Refuses requests from now on. */
  refuses: boolean;
  /** The time until it signs the next transaction, by the page's clock. */
  nextWaitMs: number;
}

/** Differences between wallets. */
export interface WalletKind {
  /** Whether it offers `solana:signIn`. */
  signsIn?: boolean;
  /** Whether it signs messages in Solana's off-chain envelope, as a Ledger does. */
  isLedger?: boolean;
  /** Changes a transaction before the wallet signs it. */
  change?: (message: TransactionMessage) => void | Promise<void>;
}

/**
 * Gives a page a wallet by the Wallet Standard, which signs in this process. Call it before the page is opened.
 *
 * @param chain as `solana:localnet`
 */
export async function addTestWallet(
  page: Page,
  keypair: Keypair,
  chain: string,
  { signsIn = false, isLedger = false, change }: WalletKind = {},
): Promise<AskedWallet> {
  const asked: AskedWallet = {
    messages: [],
    signIns: [],
    connections: 0,
    transactions: 0,
    refuses: false,
    nextWaitMs: 0,
  };
  const orRefuse = () => {
    if (asked.refuses) throw new Error('The person said no.');
  };
  await page.exposeFunction('testWalletMessage', (bytes: number[]) => {
    orRefuse();
    asked.messages.push(Buffer.from(bytes).toString());
    const signed = isLedger ? offChainEnvelope(Buffer.from(bytes), keypair) : Uint8Array.from(bytes);
    return { message: [...signed], signature: [...nacl.sign.detached(signed, keypair.secretKey)] };
  });
  await page.exposeFunction('testWalletConnected', () => {
    asked.connections += 1;
  });
  await page.exposeFunction('testWalletSignIn', (input: SignInInput) => {
    orRefuse();
    const text = signInText(input);
    asked.signIns.push(text);
    const message = Buffer.from(text);
    return { message: [...message], signature: [...nacl.sign.detached(message, keypair.secretKey)] };
  });
  await page.exposeFunction('testWalletTransaction', async (bytes: number[]) => {
    orRefuse();
    asked.transactions += 1;
    if (asked.nextWaitMs > 0) await page.clock.fastForward(asked.nextWaitMs);
    asked.nextWaitMs = 0;
    const asIs = VersionedTransaction.deserialize(Uint8Array.from(bytes));
    const transaction = change ? await changed(asIs, change) : asIs;
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
        'standard:connect': { version: '1.0.0', connect: async () => {
          await testWalletConnected();
          return { accounts: [account] };
        } },
        'standard:events': { version: '1.0.0', on: () => () => undefined },
        'solana:signMessage': { version: '1.0.0', signMessage: async (input) => {
          const { message, signature } = await testWalletMessage([...input.message]);
          return [{ signedMessage: Uint8Array.from(message), signature: Uint8Array.from(signature) }];
        } },
        ...(${String(signsIn)} ? { 'solana:signIn': { version: '1.0.0', signIn: async (input) => {
          const { message, signature } = await testWalletSignIn(input);
          return [{ account, signedMessage: Uint8Array.from(message), signature: Uint8Array.from(signature) }];
        } } } : {}),
        'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
          signTransaction: async ({ transaction }) => [
            { signedTransaction: Uint8Array.from(await testWalletTransaction([...transaction])) }] },
        'solana:signAndSendTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
          signAndSendTransaction: async () => { throw new Error('A page checks a signed transaction before it sends it.'); } },
      },
    };
    const register = (api) => api.register(wallet);
    addEventListener('wallet-standard:app-ready', ({ detail }) => register(detail));
    dispatchEvent(Object.assign(new Event('wallet-standard:register-wallet'), { detail: register }));
  }`);
  return asked;
}

async function changed(
  { message, version }: VersionedTransaction,
  change: NonNullable<WalletKind['change']>,
): Promise<VersionedTransaction> {
  const rewritten = TransactionMessage.decompile(message);
  await change(rewritten);
  return new VersionedTransaction(
    version === 'legacy' ? rewritten.compileToLegacyMessage() : rewritten.compileToV0Message(),
  );
}

/** Version 0 of docs.anza.xyz/proposals/off-chain-message-signing: format ASCII, and one signer. */
function offChainEnvelope(message: Buffer, { publicKey }: Keypair): Uint8Array {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(message.length);
  const start = Buffer.from('\xffsolana offchain\0', 'latin1');
  return Buffer.concat([start, Buffer.alloc(32), Uint8Array.of(0, 1), publicKey.toBytes(), length, message]);
}

/** The text that a wallet signs for `solana:signIn`, by the specification of Sign In With Solana. */
function signInText({ domain, address, statement, ...fields }: SignInInput): string {
  return [
    `${domain} wants you to sign in with your Solana account:`,
    address,
    '',
    statement,
    '',
    `URI: ${fields.uri}`,
    `Version: ${fields.version}`,
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    `Expiration Time: ${fields.expirationTime}`,
  ].join('\n');
}
