import { decodeInstruction, type BorshValue, type DecodedInstruction } from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { DEFAULT_MAX_PRIORITY_FEE_LAMPORTS, type Agreement, type AskedAction } from './agreement.js';
import { buildInstructions } from '../build/build-instructions.js';
import { isComputeBudget, priorityFeeLamports } from './compute-budget.js';
import { particularsOfProposal } from './proposed-particulars.js';
import { UntrustedTransactionError } from './untrusted-transaction.js';
import { isWalletGuard } from './wallet-guard.js';
import { spendOf, type WalletSpend } from './wallet-spend.js';
import {
  isSignedBy,
  readWireTransaction,
  type WireInstruction,
  type WireTransaction,
} from './wire-transaction.js';

/** A transaction that does exactly the requested action. */
export interface CheckedTransaction extends WireTransaction {
  /** The lamports that the transaction can take from the wallet. */
  spend: WalletSpend;
}

/**
 * Checks that a transaction does the requested action and nothing else. It builds the instructions again from wallet,
 * listing id and request, and compares all accounts and values. Values that only the chain knows (the treasury, the present
 * price) come from the transaction, within the agreed terms. The program itself checks the treasury.
 *
 * @throws UntrustedTransactionError with the first fault.
 */
export function checkTransaction(
  wire: Uint8Array,
  asked: AskedAction,
  agreement: Agreement,
): CheckedTransaction {
  const { wallet, programId, request } = asked;
  const transaction = readWireTransaction(wire);
  if (!transaction.payer.equals(wallet)) {
    throw new UntrustedTransactionError('payer', 'is paid by another wallet');
  }
  const proposed = decodeOurs(transaction, programId);
  checkPriorityFee(transaction, agreement.maxPriorityFeeLamports ?? DEFAULT_MAX_PRIORITY_FEE_LAMPORTS);

  const particulars = particularsOfProposal(asked, proposed, agreement);
  const expected = buildInstructions(request, wallet, particulars, programId);
  for (const [index, theirs] of proposed.entries()) {
    const instruction = expected[index];
    const ours = instruction && decodeInstruction(instruction.data, instruction.keys);
    if (ours?.name !== theirs.name)
      throw new Error(`${request.action} is built in another form than proposed.`);
    compare(ours, theirs);
  }

  const keys = expected.flatMap((instruction) => instruction.keys);
  const signers = [wallet, ...keys.filter((key) => key.isSigner).map((key) => key.pubkey)];
  if (transaction.signers.some((signer) => !includes(signers, signer))) {
    throw new UntrustedTransactionError('signer', 'asks for the signature of a stranger');
  }
  const writable = [wallet, ...keys.filter((key) => key.isWritable).map((key) => key.pubkey)];
  if (transaction.writable.some((account) => !includes(writable, account))) {
    throw new UntrustedTransactionError('account', 'may write to an account that it should only read');
  }
  const programs = transaction.instructions.map((instruction) => instruction.programId);
  const guarded = transaction.instructions.filter(isWalletGuard).flatMap((guard) => guard.keys);
  const used = [wallet, ...programs, ...guarded, ...keys.map((key) => key.pubkey)];
  if (transaction.accounts.some((account) => !includes(used, account))) {
    throw new UntrustedTransactionError('account', 'names an account that has no part in it');
  }
  for (const signer of transaction.signers) {
    // Every signer except the wallet must already have signed.
    if (!signer.equals(wallet) && !isSignedBy(transaction, signer)) {
      throw new UntrustedTransactionError('signature', 'lacks the valid signature of the marketplace');
    }
  }
  return { ...transaction, spend: spendOf(transaction, proposed) };
}

/** Decodes the marketplace's instructions. Besides them, the transaction may have only ComputeBudget instructions and guards. */
function decodeOurs(transaction: WireTransaction, programId: PublicKey): DecodedInstruction[] {
  const decoded: DecodedInstruction[] = [];
  requireProgram(transaction, programId);
  for (const instruction of transaction.instructions) {
    if (isAccessory(instruction)) continue;
    if (!instruction.programId.equals(programId)) {
      throw new UntrustedTransactionError('program', `calls ${instruction.programId.toBase58()}`);
    }
    const read = decodeInstruction(instruction.data, instruction.keys);
    if (!read) throw new UntrustedTransactionError('instruction', 'has an instruction that cannot be read');
    if (instruction.keys.length > Object.keys(read.accounts).length) {
      throw new UntrustedTransactionError('account', `passes ${read.name} more accounts than it takes`);
    }
    decoded.push(read);
  }
  return decoded;
}

/** Whether an instruction only sets limits and fees, or guards the transaction. */
function isAccessory(instruction: WireInstruction): boolean {
  return isComputeBudget(instruction) || isWalletGuard(instruction);
}

/** Refuses a transaction that does not call the client's program: the marketplace may have another program. */
function requireProgram({ instructions }: WireTransaction, programId: PublicKey): void {
  const called = instructions.filter((instruction) => !isAccessory(instruction));
  const [other] = called;
  if (!other || called.some((instruction) => instruction.programId.equals(programId))) return;
  throw new UntrustedTransactionError(
    'program',
    `calls the program ${other.programId.toBase58()}, not the client's marketplace program ${programId.toBase58()}. ` +
      "If the marketplace's operator confirms the former, set it as programId " +
      '(AGENT_RENTAL_PROGRAM_ID in the environment)',
  );
}

function checkPriorityFee(transaction: WireTransaction, maxLamports: bigint): void {
  const fee = priorityFeeLamports(transaction.instructions.filter(isComputeBudget));
  if (fee > maxLamports) {
    throw new UntrustedTransactionError('network_fee', `has a priority fee of up to ${fee} lamports`);
  }
}

function compare(ours: DecodedInstruction, theirs: DecodedInstruction): void {
  for (const [role, account] of Object.entries(ours.accounts)) {
    if (theirs.accounts[role]?.equals(account) !== true) {
      throw new UntrustedTransactionError('account', `names another ${role} than ${account.toBase58()}`);
    }
  }
  for (const [name, value] of Object.entries(ours.args)) {
    if (!isSame(value, theirs.args[name])) {
      throw new UntrustedTransactionError('argument', `has another ${name} than the request`);
    }
  }
}

function isSame(left: BorshValue, right: BorshValue | undefined): boolean {
  if (left instanceof PublicKey) return right instanceof PublicKey && left.equals(right);
  return left === right;
}

function includes(keys: readonly PublicKey[], wanted: PublicKey): boolean {
  return keys.some((key) => key.equals(wanted));
}
