import {
  canonicalJson,
  receipt as receiptSchema,
  signedReceipt,
  type Receipt,
  type RunLogEntry,
} from '@agent-rental/contract';
import {
  chargesOf,
  decodeInstruction,
  findListingAddress,
  findPerQueryBalanceAddress,
  MEMO_PROGRAM_ID,
  parseRunLogMemo,
} from '@agent-rental/program-client';
import { PublicKey } from '@solana/web3.js';
import { equalBytes, type WireTransaction } from '../solana/verify/wire-transaction.js';
import { jsonOf, verifiedPayload } from './jws.js';
import { readLanded, signerOf } from './landed-transaction.js';
import { rootOf } from './merkle-proof.js';
import { WrongPart, type ReceiptVerification, type VerifiedLog } from './verification.js';

/** The evidence for a receipt. The verification sends no request to the service. */
export interface ReceiptEvidence {
  /** The answer of `GET /v1/runs/:run_id/receipt`. */
  answer: unknown;
  /**
   * The answer of `GET /.well-known/jwks.json`, from a time when the reader trusted it. After a rotation it also has the former
   * keys. A receipt by an unknown key is refused.
   */
  jwks: unknown;
  /** The `result` of Solana's `getTransaction` for `answer.log.signature`, of encoding `base64` or `json`. */
  transaction: unknown;
  /** The accepted authorities of the protocol in base58. */
  authorities: readonly string[];
  /** The address of the marketplace's program in base58. */
  programId: string;
}

type Batched = Extract<RunLogEntry, { status: 'logged' }>;

/**
 * Verifies a run's receipt: its signature, and its record on-chain. The record is the run's charge, or a Merkle proof of
 * the run's place in a batch of the run log. The transaction's signature is checked, so an RPC cannot invent a transaction.
 * Only the RPC says whether it landed.
 *
 * @throws TypeError if `authorities` or `programId` are no addresses. A fault of the evidence is a return value.
 */
export async function verifyReceipt(evidence: ReceiptEvidence): Promise<ReceiptVerification> {
  const authorities = evidence.authorities.map(addressOf);
  const programId = addressOf(evidence.programId);
  try {
    const answer = signedReceipt.safeParse(evidence.answer);
    if (!answer.success) throw new WrongPart('answer', 'It is no answer of GET /v1/runs/:run_id/receipt.');
    const { jws, log } = answer.data;
    const { payload, keySignsUntil } = verifiedPayload(jws, evidence.jwks);
    const signed = receiptSchema.safeParse(jsonOf(payload));
    if (!signed.success) throw new WrongPart('jws', 'Its payload is no receipt.');
    const receipt = signed.data;
    if (keySignsUntil !== undefined && Date.parse(receipt.finished_at) > keySignsUntil * 1_000)
      throw new WrongPart('jws', 'Its key had expired before the run ended.');
    if (canonicalJson(receipt) !== canonicalJson(answer.data.receipt)) {
      throw new WrongPart('answer', 'Its receipt is not the one that was signed.');
    }
    if (receipt.program_id !== programId.toBase58()) {
      throw new WrongPart('program', `The receipt is of the program ${receipt.program_id}.`);
    }
    if (log.status === 'pending') {
      throw new WrongPart('log', `The run is not final on-chain yet; expected at ${log.expected_at}.`);
    }
    const wire = readLanded(evidence.transaction, log.signature);
    const authority = signerOf(wire, authorities);
    if (!authority)
      throw new WrongPart('authority', 'None of the given authorities has signed the transaction.');
    const verified =
      log.status === 'charged'
        ? verifyCharge(receipt, log.signature, wire, { authority, programId })
        : await verifyBatch(receipt, payload, log, wire, authority);
    return { ok: true, receipt, log: verified, authority: authority.toBase58() };
  } catch (error) {
    if (error instanceof WrongPart) return { ok: false, part: error.part, reason: error.message };
    throw error;
  }
}

/** Verifies a charged run: the charging instruction has the receipt's run, price, wallet and listing. */
function verifyCharge(
  receipt: Receipt,
  signature: string,
  wire: WireTransaction,
  { authority, programId }: { authority: PublicKey; programId: PublicKey },
): VerifiedLog {
  if (receipt.charge_signature !== signature) {
    throw new WrongPart('log', 'It names another transaction than the receipt does.');
  }
  const runId = bytesOfRun(receipt.run_id);
  for (const { programId: called, keys, data } of wire.instructions) {
    const charges = called.equals(programId) ? chargesOf(decodeInstruction(data, keys)) : [];
    const charge = charges.find((each) => equalBytes(each.runId, runId));
    if (!charge) continue;
    const listing = findListingAddress(receipt.listing_id, programId).address;
    const balance = findPerQueryBalanceAddress(new PublicKey(receipt.wallet), listing, programId).address;
    const isAgreed =
      charge.priceLamports === BigInt(receipt.cost_lamports) &&
      charge.authority.equals(authority) &&
      charge.listing.equals(listing) &&
      charge.perQueryBalance.equals(balance);
    if (!isAgreed) throw new WrongPart('charge', 'It charges another price, wallet or listing.');
    return { by: 'charge', signature, lamports: BigInt(receipt.cost_lamports) };
  }
  throw new WrongPart('charge', 'It charges no run of this id.');
}

/** Verifies a run in a batch: its proof leads to the root in a memo of the authority. */
async function verifyBatch(
  receipt: Receipt,
  payload: Uint8Array,
  log: Batched,
  wire: WireTransaction,
  authority: PublicKey,
): Promise<VerifiedLog> {
  if (receipt.charge_signature !== null) {
    throw new WrongPart(
      'log',
      'The receipt names a charge, but a batch of the run log has only runs without a charge.',
    );
  }
  const memo = wire.instructions.find(
    ({ programId, keys }) => programId.equals(MEMO_PROGRAM_ID) && keys.some((key) => key.equals(authority)),
  );
  const batch = memo && parseRunLogMemo(new TextDecoder().decode(memo.data));
  if (!batch) throw new WrongPart('memo', 'It has no memo of the authority with a batch of the run log.');
  const { batch: number, count, previousRoot, root } = batch;
  if (
    number !== BigInt(log.batch) ||
    count !== log.count ||
    previousRoot !== log.previous_root ||
    root !== log.root
  ) {
    throw new WrongPart('memo', 'It says another batch, count or root than the log.');
  }
  const place = { leafIndex: log.leaf_index, count, proof: log.proof };
  if ((await rootOf(payload, place)) !== root) {
    throw new WrongPart('proof', 'It does not lead from the receipt to the root of the batch.');
  }
  return {
    by: 'run_log',
    signature: log.signature,
    batch: number,
    count,
    leafIndex: log.leaf_index,
    root,
    previousRoot,
  };
}

function addressOf(text: string): PublicKey {
  try {
    return new PublicKey(text);
  } catch {
    throw new TypeError(`${JSON.stringify(text)} is no address.`);
  }
}

/** The 16 bytes of a UUID. Another text gives no bytes, which match no run. */
function bytesOfRun(runId: string): Uint8Array {
  const digits = runId.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(digits)) return new Uint8Array();
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
