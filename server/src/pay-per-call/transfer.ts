import {
  ACCOUNT_SIZES,
  decodeProgramError,
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  fundBalance,
} from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  MessageV0,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { AuthoritySigner, Chain, PriorityFees, RecentBlockhash } from '../chain/index.js';
import type { Payment, Transfer } from './payment.js';
import { transferFeeLamports } from './quote.js';
import { transferTokens } from './usdc/token.js';

const COMPUTE_UNITS = 40_000;
const MICRO_LAMPORTS = 1_000_000n;

/**
 * Refusals that last: the listing is closed or dearer, or the payer's rental was ended. `ListingNotActive`,
 * `InvalidAccessType`, `CredentialRevoked`, `PriceAboveLimit`, `DepositTooLow`, `AccountNotInitialized`.
 */
const LASTING: ReadonlySet<string> = new Set([
  'ListingNotActive',
  'InvalidAccessType',
  'CredentialRevoked',
  'PriceAboveLimit',
  'DepositTooLow',
  'AccountNotInitialized',
]);

/** The accounts of a payer's balance. */
export function accountsOf(payment: Pick<Payment, 'wallet' | 'listing_id'>, programId: PublicKey) {
  const buyer = new PublicKey(payment.wallet);
  const listing = findListingAddress(payment.listing_id, programId).address;
  return [
    { address: findAccessCredentialAddress(buyer, listing, programId).address, name: 'AccessCredential' },
    { address: findPerQueryBalanceAddress(buyer, listing, programId).address, name: 'PerQueryBalance' },
  ] as const;
}

/** Builds and signs the till's transactions. */
export interface TransferSigner {
  /**
   * The transaction that makes a payment a balance; that returns it where the program will not have it.
   *
   * @param recent the blockhash to sign over; absent: the newest
   * @throws ApiError `service_unavailable` when the chain is out of reach; Error for a refusal that may pass
   */
  sign(payment: Payment, recent?: RecentBlockhash): Promise<Transfer>;
}

/**
 * Makes the signer.
 *
 * @param till pays, and has the payers' money
 * @param authority vouches for payments
 */
export function createTransferSigner(deps: {
  chain: Chain;
  till: AuthoritySigner;
  authority: AuthoritySigner;
  fees: Pick<PriorityFees, 'latest'>;
  /** Of USDC, in which payers of it are paid back. */
  mint: PublicKey;
}): TransferSigner {
  const { chain, till, authority, fees, mint } = deps;
  const { programId } = chain;

  /** A transaction over no blockhash yet, and its fee. */
  function compile(instruction: TransactionInstruction): { undated: MessageV0; feeLamports: bigint } {
    const writable = instruction.keys.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey);
    const price = fees.latest(writable, COMPUTE_UNITS);
    const undated = new TransactionMessage({
      payerKey: till.publicKey,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [
        ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNITS }),
        ...(price > 0n ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })] : []),
        instruction,
      ],
    }).compileToV0Message();
    const priority = (price * BigInt(COMPUTE_UNITS) + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
    return { undated, feeLamports: transferFeeLamports(undated.header.numRequiredSignatures) + priority };
  }

  async function fund(payment: Payment) {
    const accounts = accountsOf(payment, programId);
    const found = await chain.getAccountsOfTwo(accounts.map(({ address }) => address));
    const missing = accounts.filter((_, index) => !found.accounts[index]);
    const rents = await Promise.all(missing.map(({ name }) => chain.minimumBalance(ACCOUNT_SIZES[name])));
    const rentLamports = rents.reduce((sum, rent) => sum + rent, 0n);
    const signatures = till.publicKey.equals(authority.publicKey) ? 1 : 2;
    const lamports = payment.lamports - rentLamports - transferFeeLamports(signatures);
    // The program refuses an amount of 0 by its own minimum.
    const instruction = fundBalance({
      payer: till.publicKey,
      authority: authority.publicKey,
      buyer: new PublicKey(payment.wallet),
      listingId: payment.listing_id,
      amountLamports: lamports > 0n ? lamports : 0n,
      maxPriceLamports: payment.price_lamports,
      programId,
    });
    return { kind: 'fund' as const, lamports, units: null, rentLamports, ...compile(instruction) };
  }

  function refund(payment: Payment) {
    const [from, to] = [till.publicKey, new PublicKey(payment.wallet)];
    const left = payment.lamports - transferFeeLamports(1);
    const returned = { kind: 'refund' as const, rentLamports: 0n };
    if (payment.units !== null) {
      const units = (payment.units * left) / payment.lamports;
      return { ...returned, lamports: 0n, units, ...compile(transferTokens(mint, { from, to, units })) };
    }
    const instruction = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: left });
    return { ...returned, lamports: left, units: null, ...compile(instruction) };
  }

  /** Whether the program takes it; an error that may pass is thrown. */
  async function isTaken(message: MessageV0): Promise<boolean> {
    const { error, logs } = await chain.simulate(message);
    if (!error) return true;
    if (LASTING.has(decodeProgramError({ error, logs })?.name ?? '')) return false;
    throw new Error(`the simulation of the transfer failed: ${JSON.stringify(error)}`);
  }

  return {
    async sign(payment, recent) {
      const funding = await fund(payment);
      const planned = (await isTaken(funding.undated)) ? funding : refund(payment);
      const { undated, ...transfer } = planned;
      const { blockhash, lastValidBlockHeight } = recent ?? (await chain.latestBlockhash(true));
      const { header, staticAccountKeys, compiledInstructions, addressTableLookups } = undated;
      const dated = new MessageV0({
        header,
        staticAccountKeys,
        recentBlockhash: blockhash,
        compiledInstructions,
        addressTableLookups,
      });
      const bytes = dated.serialize();
      const signers = staticAccountKeys.slice(0, header.numRequiredSignatures);
      const signatures = await Promise.all(
        signers.map((key) => (key.equals(till.publicKey) ? till : authority).sign(bytes)),
      );
      return {
        ...transfer,
        signature: bs58.encode(signatures[0] ?? new Uint8Array()),
        signedBytes: Buffer.from(new VersionedTransaction(dated, signatures).serialize()),
        lastValidBlockHeight: BigInt(lastValidBlockHeight),
      };
    },
  };
}
