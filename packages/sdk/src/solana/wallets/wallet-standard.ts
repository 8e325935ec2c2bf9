import type { SignInInput } from '@agent-rental/contract';
import type { WalletSigner } from './signer.js';
import { equalBytes } from '../verify/wire-transaction.js';
import { unwrapSignedMessage } from './off-chain-message.js';

/** The used part of a Wallet Standard wallet; the real type fits it. */
export interface StandardWallet {
  readonly name: string;
  /** Features by identifier, for instance `solana:signTransaction`. */
  readonly features: object;
}

/** The used part of a Wallet Standard account; the real type fits it. */
export interface StandardAccount {
  readonly address: string;
}

/** The used features, by identifier. */
interface SolanaFeatures {
  'solana:signTransaction': SignTransaction;
  'solana:signMessage': SignMessage;
  'solana:signIn': SignIn;
}

interface SignTransaction {
  signTransaction(input: {
    account: StandardAccount;
    transaction: Uint8Array;
    chain?: string;
  }): Promise<readonly { signedTransaction: Uint8Array }[]>;
}

interface SignMessage {
  signMessage(input: {
    account: StandardAccount;
    message: Uint8Array;
  }): Promise<readonly { signedMessage: Uint8Array; signature: Uint8Array }[]>;
}

interface SignIn {
  signIn(input: SignInInput): Promise<
    readonly {
      account: StandardAccount;
      signedMessage: Uint8Array;
      signature: Uint8Array;
    }[]
  >;
}

/**
 * Signs with a Wallet Standard account of a wallet application. It signs in by `solana:signIn` if the wallet offers it.
 *
 * @param chain for instance `solana:devnet`; the wallet simulates the transaction on this network
 * @throws TypeError when the wallet lacks `solana:signTransaction` or `solana:signMessage`.
 */
export function walletStandardSigner(
  wallet: StandardWallet,
  account: StandardAccount,
  chain?: string,
): WalletSigner {
  const features = wallet.features as Partial<SolanaFeatures>;
  const transactions = features['solana:signTransaction'];
  const messages = features['solana:signMessage'];
  const signIns = features['solana:signIn'];
  if (!transactions) throw new TypeError(`The wallet ${wallet.name} does not offer solana:signTransaction.`);
  if (!messages) throw new TypeError(`The wallet ${wallet.name} does not offer solana:signMessage.`);
  return {
    ...(signIns ? { signIn: (input: SignInInput) => signInBy(signIns, wallet.name, input) } : {}),
    address: account.address,
    async signTransaction(transaction) {
      const [output] = await transactions.signTransaction({
        account,
        transaction,
        ...(chain === undefined ? {} : { chain }),
      });
      if (!output) throw new TypeError(`${wallet.name} gave no signed transaction back.`);
      return output.signedTransaction;
    },
    async signMessage(message) {
      const [output] = await messages.signMessage({ account, message });
      if (!output) throw new TypeError(`${wallet.name} gave no signature back.`);
      const { signature } = output;
      const signed = unwrapSignedMessage(output.signedMessage);
      // Some wallets sign a prefix and the message; such a signature is for another text.
      if (!equalBytes(signed, message))
        throw new TypeError(`${wallet.name} signed another message than the one it was given.`);
      return signature;
    },
  };
}

async function signInBy(
  feature: SignIn,
  name: string,
  input: SignInInput,
): Promise<{ message: Uint8Array; signature: Uint8Array }> {
  const [output] = await feature.signIn(input);
  if (!output) throw new TypeError(`${name} did not sign in.`);
  const { account, signedMessage, signature } = output;
  if (account.address !== input.address) {
    throw new TypeError(`${name} signed in with another account than ${input.address}.`);
  }
  return { message: unwrapSignedMessage(signedMessage), signature };
}
