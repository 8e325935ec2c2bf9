import {
  formatSol,
  canonicalJson,
  serviceEndpoints,
  type Receipt,
  type SignedReceipt,
} from '@agent-rental/contract';
import { verifyReceipt, type VerifiedLog } from '@agent-rental/sdk/receipts';
import { isApiError } from '@agent-rental/sdk';
import { momentOf } from '../elements.js';
import { type Session } from '../wallets.js';

/** A charge is final on Solana some 13 s after it is confirmed. */
const RETRY_MS = 2_000;
const MOST_TRIES = 30;

/** The result of verifying a receipt. */
export interface VerifiedRun {
  isRight: boolean;
  /** The passed checks, or the first fault. */
  checked: string[];
  /** The facts that this page cannot check, and the way to check them elsewhere. */
  unchecked: string[];
}

/**
 * Verifies the receipt of a run in the browser. The service's keys prove its signature. The transaction's signature proves
 * its charge, or its place in the run log. The digest proves the output.
 *
 * @throws Error where the receipt is not on-chain yet, or the service cannot be reached
 */
export async function verifyRun(
  { client, signer }: Session,
  { runId, programId }: { runId: string; programId: string },
  onWait: (text: string) => void,
): Promise<VerifiedRun> {
  const [answer, jwks] = await Promise.all([finalReceipt(client, runId, onWait), serviceKeys()]);
  const { evidence } = answer;
  const verified = await verifyReceipt({
    answer,
    jwks,
    transaction: { meta: { err: null }, transaction: [evidence?.transaction ?? '', 'base64'] },
    authorities: evidence?.authorities ?? [],
    programId,
  });
  const wrong = (reason: string): VerifiedRun => ({ isRight: false, checked: [reason], unchecked: [] });
  if (!verified.ok) return wrong(`${verified.part}: ${verified.reason}`);
  const { receipt, log, authority } = verified;
  if (receipt.run_id !== runId || receipt.wallet !== signer.address) {
    return wrong('answer: It is the receipt of another run, or of another wallet.');
  }
  const output = await outputStatement(client, answer);
  if (output.isWrong) return wrong('output: It is not the output that the receipt was signed for.');
  return {
    isRight: true,
    checked: [
      `Signature: a key of this service (${serviceEndpoints.getReceiptKeys.path}) signed that this run of ` +
        `${receipt.listing_id} by your wallet ended as ${receipt.status} ${momentOf(receipt.finished_at)}.`,
      logStatement(log, authority),
      ...(output.text === undefined ? [] : [output.text]),
    ],
    unchecked: uncheckedOf(receipt, log, authority, output.text === undefined),
  };
}

/** The receipt, once its transaction is final. */
async function finalReceipt(
  client: Session['client'],
  runId: string,
  onWait: (text: string) => void,
): Promise<SignedReceipt> {
  for (let tries = 1; ; tries += 1) {
    const answer = await client.getReceipt(runId, { include: 'transaction' });
    if (answer.log.status === 'pending') {
      const at = momentOf(answer.log.expected_at);
      throw new Error(
        `The run is not on Solana yet. It is logged with others, expected by ${at}. Verify it then.`,
      );
    }
    if (answer.evidence?.transaction) return answer;
    if (tries === MOST_TRIES) throw new Error('The transaction is not final on Solana yet. Try again later.');
    onWait('Waiting until the transaction of the run is final on Solana.');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function serviceKeys(): Promise<unknown> {
  // Not from the browser's cache: a leaked key may be replaced since.
  const response = await fetch(serviceEndpoints.getReceiptKeys.path, { cache: 'no-cache' });
  if (!response.ok) throw new Error('The keys of the service cannot be read. Try again.');
  return response.json();
}

function logStatement(log: VerifiedLog, authority: string): string {
  const by = `transaction ${log.signature}, signed by ${authority},`;
  switch (log.by) {
    case 'charge':
      return `Charge: ${by} takes ${formatSol(Number(log.lamports))} from your balance for this listing, and names this run.`;
    case 'run_log':
      return `Run log: ${by} holds the root of batch ${log.batch}, and the receipt is ${log.leafIndex + 1} of ${log.count} below it.`;
    default:
      return log satisfies never;
  }
}

function uncheckedOf(
  receipt: Receipt,
  log: VerifiedLog,
  authority: string,
  withoutOutput: boolean,
): string[] {
  return [
    `That the ${receipt.network} network has the transaction: this page asks this service alone. Look it up elsewhere: ` +
      `solana confirm -v ${log.signature}`,
    `That ${authority} is the authority of the program ${receipt.program_id}: its Protocol account says it.`,
    ...(withoutOutput ? ['The output: it is not kept any more, or there was none.'] : []),
  ];
}

/** Compares the output that the service gives now with the digest that it signed. */
async function outputStatement(
  client: Session['client'],
  { receipt, salt }: SignedReceipt,
): Promise<{ isWrong: boolean; text?: string }> {
  if (receipt.output_digest === null || salt === '') return { isWrong: false };
  let output: unknown;
  try {
    const state = await client.getRun(receipt.run_id);
    if (state.status === 'running') return { isWrong: true };
    output = state.output;
  } catch (error) {
    if (isApiError(error) && error.code === 'not_found') return { isWrong: false };
    throw error;
  }
  const bytes = Uint8Array.from([
    ...(salt.match(/../g) ?? []).map((hex) => Number.parseInt(hex, 16)),
    ...new TextEncoder().encode(canonicalJson(output)),
  ]);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex === receipt.output_digest
    ? { isWrong: false, text: 'Output: the output above is the one whose digest was signed.' }
    : { isWrong: true };
}
