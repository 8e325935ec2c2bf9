import { verifySignature } from '@agent-rental/ed25519';
import { MEMO_PROGRAM_ID } from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  PublicKey,
  type MessageCompiledInstruction,
  type VersionedMessage,
  type VersionedTransaction,
} from '@solana/web3.js';
import { PaymentRefusal } from '../refusal.js';
import { readTransaction } from '../sol-transfer.js';
import { TOKEN_PROGRAM, tokenAccountOf, USDC_DECIMALS } from './token.js';

/** The one effect that a payment by x402's scheme `exact` has to have. */
export interface ExactTerms {
  /** Signs as the payer of fees, and receives the tokens. */
  readonly till: PublicKey;
  readonly mint: PublicKey;
  /** In the smallest unit of the token. */
  readonly amount: bigint;
  /** Binds the payment to its quote. */
  readonly memo: string;
  /** The most that its priority may cost the till. */
  readonly mostPriorityFeeLamports: bigint;
}

/** A payment that its payer has signed and the till has not. */
export interface ExactPayment {
  /** The wallet whose tokens it moves. */
  readonly payer: PublicKey;
  readonly transaction: VersionedTransaction;
}

const SIGNERS = 2;
/** Limit, price and transfer, then the memo and up to three that guard the payer's wallet. */
const MOST_INSTRUCTIONS = 7;
const MICRO = 1_000_000n;

const SET_LIMIT = { tag: 2, bytes: 5 };
const SET_PRICE = { tag: 3, bytes: 9 };
const TRANSFER_CHECKED = { tag: 12, bytes: 10 };

/** Wallets add its assertions to guard their owners. It moves nothing. */
const LIGHTHOUSE_PROGRAM = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

/**
 * Reads a payment by x402's scheme `exact` on Solana, and compares each of its instructions with the terms. Whether its
 * blockhash lives and the payer has the tokens is the chain's to say.
 *
 * @throws PaymentRefusal for everything else than the one payment
 */
export function readExactPayment(base64: string, terms: ExactTerms): ExactPayment {
  const { transaction } = readTransaction(Buffer.from(base64, 'base64'));
  const { message } = transaction;
  const payer = requireSigners(transaction, terms.till);
  const instructions = message.compiledInstructions.map((compiled) => callOf(message, compiled));
  const [limit, price, transfer, ...others] = instructions;
  if (!limit || !price || !transfer || instructions.length > MOST_INSTRUCTIONS) {
    throw refusal('transaction_instructions_length', 'it has too few or too many instructions');
  }
  requirePrice(limit, price, terms.mostPriorityFeeLamports);
  requireTransfer(transfer, payer, terms);
  requireOthers(others, terms);
  if (instructions.some(({ accounts }) => accounts.some((account) => account.equals(terms.till)))) {
    throw refusal('transaction_fee_payer_transferring_funds', 'it uses the wallet that pays its fees');
  }
  return { payer, transaction };
}

interface Call {
  program: PublicKey;
  accounts: PublicKey[];
  data: Buffer;
}

/** Two sign: the till, which pays the fee, and the wallet that pays. Returns that wallet. */
function requireSigners({ message, signatures }: VersionedTransaction, till: PublicKey): PublicKey {
  if (message.addressTableLookups.length > 0) {
    throw refusal('transaction_could_not_be_decoded', 'it uses a lookup table');
  }
  const [feePayer, payer] = message.staticAccountKeys;
  if (!feePayer?.equals(till)) throw refusal('fee_payer_mismatch', 'another wallet pays its fee');
  const signature = signatures[1];
  if (!payer || !signature || message.header.numRequiredSignatures !== SIGNERS) {
    throw refusal('excessive_signers', 'it has other signers than the payer and the payee');
  }
  const signed = { signature, message: message.serialize(), publicKey: payer.toBytes() };
  if (!verifySignature(signed)) throw refusal('signature_invalid', 'its signature is not of the payer');
  return payer;
}

function callOf(message: VersionedMessage, compiled: MessageCompiledInstruction): Call {
  const keyAt = (index: number): PublicKey => {
    const key = message.staticAccountKeys[index];
    if (!key) throw refusal('transaction_could_not_be_decoded', 'it names an account that it does not have');
    return key;
  };
  return {
    program: keyAt(compiled.programIdIndex),
    accounts: compiled.accountKeyIndexes.map(keyAt),
    data: Buffer.from(compiled.data),
  };
}

/** Whether this is one instruction of a program, with data of its exact length. */
function isCall({ program, data }: Call, of: PublicKey, { tag, bytes }: typeof SET_LIMIT): boolean {
  return program.equals(of) && data.length === bytes && data[0] === tag;
}

function requirePrice(limit: Call, price: Call, mostLamports: bigint): void {
  const { programId } = ComputeBudgetProgram;
  if (!isCall(limit, programId, SET_LIMIT)) {
    throw refusal('transaction_instructions_compute_limit_instruction', 'it does not set a limit first');
  }
  if (!isCall(price, programId, SET_PRICE)) {
    throw refusal('transaction_instructions_compute_price_instruction', 'it does not set a price second');
  }
  const units = BigInt(limit.data.readUInt32LE(1));
  const microLamports = price.data.readBigUInt64LE(1);
  if (units * microLamports > mostLamports * MICRO) {
    throw refusal(
      'transaction_instructions_compute_price_instruction_too_high',
      `its priority costs more than ${mostLamports} lamports`,
    );
  }
}

function requireTransfer(transfer: Call, payer: PublicKey, { till, mint, amount }: ExactTerms): void {
  const [source, ofMint, destination, authority, ...more] = transfer.accounts;
  if (!isCall(transfer, TOKEN_PROGRAM, TRANSFER_CHECKED) || more.length > 0 || !authority) {
    throw refusal('no_transfer_instruction', 'its third instruction is no checked transfer');
  }
  if (authority.equals(till)) {
    throw refusal('transaction_fee_payer_transferring_funds', 'it moves tokens of the payee');
  }
  if (!authority.equals(payer) || !source?.equals(tokenAccountOf(payer, mint))) {
    throw refusal('no_transfer_instruction', 'it moves tokens that are not in the account of its signer');
  }
  if (!ofMint?.equals(mint) || transfer.data[9] !== USDC_DECIMALS) {
    throw refusal('mint_mismatch', 'it moves another token');
  }
  if (!destination?.equals(tokenAccountOf(till, mint))) {
    throw refusal('recipient_mismatch', 'it pays another account');
  }
  const paid = transfer.data.readBigUInt64LE(1);
  if (paid !== amount) throw refusal('amount_mismatch', `it pays ${paid} units, and ${amount} are asked for`);
}

function requireOthers(others: readonly Call[], { memo }: ExactTerms): void {
  const memos = others.filter(({ program }) => program.equals(MEMO_PROGRAM_ID));
  const unknown = others.find(
    ({ program }) => !program.equals(MEMO_PROGRAM_ID) && !program.equals(LIGHTHOUSE_PROGRAM),
  );
  if (unknown) throw refusal('unknown_optional_instruction', 'it has another instruction');
  const [only, ...more] = memos;
  if (!only || more.length > 0) throw refusal('memo_count', 'it has not exactly one memo');
  if (only.accounts.length > 0 || !only.data.equals(Buffer.from(memo))) {
    throw refusal('memo_mismatch', 'its memo is not of this quote');
  }
}

function refusal(reason: string, said: string): PaymentRefusal {
  const prefix = reason === 'fee_payer_mismatch' ? '' : 'payload_';
  const problem = reason === 'amount_mismatch' ? 'payment-insufficient' : 'verification-failed';
  return new PaymentRefusal(problem, `The payment is refused: ${said}.`, {
    reason: `invalid_exact_svm_${prefix}${reason}`,
  });
}
