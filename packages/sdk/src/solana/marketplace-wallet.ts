import { ACCOUNT_SIZES, MARKETPLACE_PROGRAM_ID } from '@agent-rental/program-client';
import { PublicKey, VersionedTransaction, type Connection } from '@solana/web3.js';
import bs58 from 'bs58';
import type { CallOptions } from '../client.js';
import type {
  ListingChanges,
  RenewTerms,
  RentTerms,
  TopUpTerms,
  WithdrawTerms,
} from './build/action-terms.js';
import { buildInstructions } from './build/build-instructions.js';
import { apiErrorOfTransaction, reach } from './send/chain-errors.js';
import { checkTransaction } from './verify/check-transaction.js';
import { planAction, type DirectRequest, type Effect } from './build/market-quote.js';
import { readMarketState } from './build/market-state.js';
import { sendAndConfirm, type SendingConnection } from './send/send-and-confirm.js';
import { signInTime, type TransactionToSign } from './send/sign-in-time.js';
import { makeMessage, type UnsignedMessage } from './send/unsigned-message.js';
import type { WalletSigner } from './wallets/signer.js';
import { quoteOfSpend, type DecodedQuote, type WalletSpend } from './verify/wallet-spend.js';

/** The used part of a web3.js `Connection`. */
export type WalletConnection = SendingConnection &
  Pick<
    Connection,
    | 'getMultipleAccountsInfo'
    | 'getLatestBlockhash'
    | 'simulateTransaction'
    | 'getMinimumBalanceForRentExemption'
  >;

/** The RPC endpoint, the signer and the program. */
export interface MarketplaceWalletOptions {
  connection: WalletConnection;
  signer: WalletSigner;
  /** Address of the marketplace program. Default: the published program. */
  programId?: PublicKey | string | undefined;
}

/** Options of one action. */
export interface ActionOptions extends CallOptions {
  /**
   * Gets the transaction's maximum cost before the signature. Only `true` approves. Called again if the wallet changes the
   * cost while it signs.
   */
  approve?: ((quote: DecodedQuote) => boolean | Promise<boolean>) | undefined;
  /** Called when the wallet took too long, before it is asked to sign a new transaction with the same contents. */
  onSignAgain?: (() => void) | undefined;
  /** The highest priority fee that the wallet may add. Default 100,000 lamports. */
  maxPriorityFeeLamports?: bigint | undefined;
}

/** A confirmed transaction. */
export interface ConfirmedTransaction {
  /** Base58. */
  signature: string;
}

/**
 * A wallet's actions on the marketplace, with only an RPC endpoint. Each method builds a transaction from the chain's
 * state, simulates it, has it signed, and sends it until it is confirmed. The default of `max_price_lamports` is the
 * listing's present price on-chain.
 *
 * Publishing needs the service: use `publish` with a client. The program requires the protocol authority's signature on a
 * new listing, as proof of its review.
 *
 * Every method throws:
 *
 * - `ApiError`, with `onChainError` if the program refused;
 * - `ConnectionError` if the endpoint cannot be reached;
 * - `UntrustedTransactionError` if the signer changed the transaction.
 */
export interface MarketplaceWallet {
  readonly address: string;
  rent(listingId: string, terms?: RentTerms, options?: ActionOptions): Promise<ConfirmedTransaction>;
  /** Extends a subscription to now + duration. One that adds less than half of it needs `early: true`. */
  renew(listingId: string, terms: RenewTerms, options?: ActionOptions): Promise<ConfirmedTransaction>;
  /** Adds to a prepaid balance. */
  topUp(listingId: string, terms: TopUpTerms, options?: ActionOptions): Promise<ConfirmedTransaction>;
  /**
   * Takes a prepaid balance back. The listing must be closed, cost more than the agreed price, or have pauses of 7 days in
   * total within 30 days.
   */
  reclaim(listingId: string, options?: ActionOptions): Promise<ConfirmedTransaction>;
  update(listingId: string, changes: ListingChanges, options?: ActionOptions): Promise<ConfirmedTransaction>;
  pause(listingId: string, options?: ActionOptions): Promise<ConfirmedTransaction>;
  resume(listingId: string, options?: ActionOptions): Promise<ConfirmedTransaction>;
  /** Withdraws the earnings and closes the listing for ever, in one transaction. */
  close(listingId: string, options?: ActionOptions): Promise<ConfirmedTransaction>;
  withdraw(listingId: string, terms?: WithdrawTerms, options?: ActionOptions): Promise<ConfirmedTransaction>;
  /** Ends a buyer's Per-Task rental of a listing of this wallet, for ever; balance and rent go back to the buyer. */
  revoke(listingId: string, buyer: string, options?: ActionOptions): Promise<ConfirmedTransaction>;
}

/** 10 s of slots of 200 ms. A transaction with fewer blocks left is made anew. */
const MIN_BLOCKS_TO_SEND = 50;

/** The method of each action but the admin's. An action without one does not compile. */
type MethodName = Exclude<DirectRequest['action'], 'topup' | 'moderate'> | 'topUp';

/** Makes a wallet that acts on the marketplace through an RPC endpoint. */
export function createMarketplaceWallet(options: MarketplaceWalletOptions): MarketplaceWallet {
  const { connection, signer } = options;
  const programId = new PublicKey(options.programId ?? MARKETPLACE_PROGRAM_ID);
  const wallet = new PublicKey(signer.address);

  async function act(request: DirectRequest, given: ActionOptions = {}): Promise<ConfirmedTransaction> {
    const { approve, onSignAgain, maxPriorityFeeLamports, signal } = given;
    let told: Effect | undefined;

    async function make(): Promise<TransactionToSign & { made: UnsignedMessage }> {
      const state = await readMarketState(connection, request.listing_id, wallet, programId);
      const { particulars, effect } = planAction(request, state);
      told = effect;
      const instructions = buildInstructions(request, wallet, particulars, programId);
      const made = await makeMessage(connection, wallet, instructions, signal);
      const transaction = new VersionedTransaction(made.message);
      await simulate(transaction);
      const agreement = { ...particulars, maxPriorityFeeLamports };
      const check = (bytes: Uint8Array) => checkTransaction(bytes, { request, wallet, programId }, agreement);
      const wire = transaction.serialize();
      const isFresh = async () =>
        made.lastValidBlockHeight - (await reach(() => connection.getBlockHeight('finalized'))) >=
        MIN_BLOCKS_TO_SEND;
      return { wire, checked: check(wire), check, isFresh, made };
    }

    const signed = await signInTime(make, signer, {
      approve: approve && (async (spend) => approve({ ...(await chainQuote(spend)), ...told })),
      onSignAgain,
      signal,
    });
    const { blockhash, lastValidBlockHeight } = signed.made.made;
    const [signature = new Uint8Array()] = signed.transaction.signatures;
    const sent = { wire: signed.wire, signature: bs58.encode(signature), lastValidBlockHeight, programId };
    if (signed.transaction.blockhash !== blockhash) {
      // The wallet chose another blockhash, which is not newer than the present one.
      sent.lastValidBlockHeight = (
        await reach(() => connection.getLatestBlockhash('finalized'))
      ).lastValidBlockHeight;
    }
    await sendAndConfirm(connection, sent, signal);
    return { signature: sent.signature };
  }

  /** Simulates a transaction before the signature, so that the wallet signs no transaction that would fail. */
  async function simulate(transaction: VersionedTransaction): Promise<void> {
    const { value } = await reach(() =>
      connection.simulateTransaction(transaction, { sigVerify: false, commitment: 'processed' }),
    );
    if (value.err) throw apiErrorOfTransaction(value.err, value.logs ?? [], programId);
  }

  /** The quote of a spend, with the chain's present rent. */
  async function chainQuote(spend: WalletSpend): Promise<DecodedQuote> {
    const rents = new Map(
      await Promise.all(
        spend.createdAccounts.map(async (name) => {
          const rent = await reach(() => connection.getMinimumBalanceForRentExemption(ACCOUNT_SIZES[name]));
          return [name, BigInt(rent)] as const;
        }),
      ),
    );
    return quoteOfSpend(spend, (name) => rents.get(name) ?? 0n);
  }

  return {
    address: signer.address,
    rent: (listing_id, terms = {}, given) => act({ action: 'rent', listing_id, ...terms }, given),
    renew: (listing_id, terms, given) => act({ action: 'renew', listing_id, ...terms }, given),
    topUp: (listing_id, terms, given) => act({ action: 'topup', listing_id, ...terms }, given),
    reclaim: (listing_id, given) => act({ action: 'reclaim', listing_id }, given),
    update: (listing_id, changes, given) => act({ action: 'update', listing_id, ...changes }, given),
    pause: (listing_id, given) => act({ action: 'pause', listing_id }, given),
    resume: (listing_id, given) => act({ action: 'resume', listing_id }, given),
    close: (listing_id, given) => act({ action: 'close', listing_id }, given),
    withdraw: (listing_id, terms = {}, given) => act({ action: 'withdraw', listing_id, ...terms }, given),
    revoke: (listing_id, buyer, given) => act({ action: 'revoke', listing_id, buyer }, given),
  } satisfies MarketplaceWallet & Record<MethodName, unknown>;
}
