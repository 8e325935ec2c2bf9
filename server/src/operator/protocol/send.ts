import { decodeEvents, type MarketplaceEvent } from '@agent-rental/program-client';
import { TransactionMessage, VersionedTransaction, type Keypair, type MessageV0 } from '@solana/web3.js';
import bs58 from 'bs58';
import { apiErrorOfTransaction, loadKeypair, type Chain } from '../../chain/index.js';
import { createDeadline } from '@agent-rental/contract';
import { OperatorError } from '../operator-error.js';
import type { Plan } from './plan.js';

/** A blockhash lives for a minute or so; by then it is known whether the transaction landed. */
const LANDED_WITHIN_MS = 120_000;
const RESEND_MS = 2_000;
const NEXT_BLOCKHASH_MS = 200;
/** A slot takes 0.4 s. */
const NEXT_BLOCKHASH_TRIES = 50;
const LOGS_TRIES = 20;
const LOGS_PAUSE_MS = 500;

/** Runs a plan's transaction without signatures or effect. @throws OperatorError with the program's reason for refusing it. */
export async function simulatePlan(chain: Chain, plan: Plan): Promise<void> {
  const { blockhash } = await chain.latestBlockhash();
  const { error, logs } = await chain.simulate(messageOf(plan, blockhash));
  if (error !== null) throw refusal('The simulation is refused', error, logs, chain);
}

/**
 * Signs, sends and waits until the transaction has landed and the program has logged its event.
 *
 * @throws OperatorError where it was refused or did not land; where that is not known, it names the signature.
 */
export async function sendPlan(
  chain: Chain,
  plan: Plan,
  keypair: Keypair,
): Promise<{ signature: string; event: MarketplaceEvent }> {
  const { signedBytes, signature, lastValidBlockHeight } = await signNew(chain, plan, keypair);
  await chain.send(signedBytes);
  // Nodes drop transactions: the same bytes go out again until they land.
  const resend = setInterval(() => void chain.send(signedBytes).catch(() => undefined), RESEND_MS);
  const deadline = createDeadline(LANDED_WITHIN_MS);
  const status = await chain
    .waitForConfirmation(signature, lastValidBlockHeight, deadline.signal)
    .finally(() => {
      clearInterval(resend);
      deadline.clear();
    });
  if (status === null) {
    throw new OperatorError(
      `The transaction ${signature} was not seen to land in time. Look with the command protocol before you send another.`,
    );
  }
  const logs = await logsOf(chain, signature);
  if (status.err) throw refusal(`The transaction ${signature} failed`, status.err, logs, chain);
  const event = decodeEvents(logs, chain.programId).find(({ name }) => name === plan.event);
  if (event) return { signature, event };
  throw new OperatorError(
    `The transaction ${signature} landed, and the RPC endpoint does not show its event ${plan.event}. ` +
      'Look at the change with the command protocol.',
  );
}

/**
 * Signs a transaction that has not landed yet. The same change on the same blockhash has the same signature. Sent twice
 * within a slot, the second would seem landed by the first one's status, and change nothing.
 *
 * @throws OperatorError where no newer blockhash comes.
 */
async function signNew(
  chain: Chain,
  plan: Plan,
  keypair: Keypair,
): Promise<{ signedBytes: Uint8Array; signature: string; lastValidBlockHeight: number }> {
  for (let tried = 0; tried < NEXT_BLOCKHASH_TRIES; tried += 1) {
    const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash(true);
    const transaction = new VersionedTransaction(messageOf(plan, blockhash));
    transaction.sign([keypair]);
    const signature = bs58.encode(transaction.signatures[0] ?? new Uint8Array());
    const [status] = await chain.statuses([signature]);
    if (!status) return { signedBytes: transaction.serialize(), signature, lastValidBlockHeight };
    await new Promise((resolve) => setTimeout(resolve, NEXT_BLOCKHASH_MS));
  }
  throw new OperatorError('The same change has just landed, and the RPC endpoint has no newer blockhash.');
}

/**
 * Opens the keypair of the signer.
 *
 * @throws OperatorError; it repeats no text that may be a key.
 */
export async function openSigner(file: string, { signer }: Plan): Promise<Keypair> {
  if (/^\s*\[/.test(file) || /^[1-9A-HJ-NP-Za-km-z]{60,}$/.test(file)) {
    throw new OperatorError(
      '--keypair takes the path of a file and never a key. The typed text may be in the history of your shell: treat that key as known to others.',
    );
  }
  const keypair = await loadKeypair(file).catch((cause: unknown) => {
    throw new OperatorError((cause as Error).message, { cause });
  });
  if (keypair.publicKey.equals(signer.address)) return keypair;
  throw new OperatorError(
    `The keypair file ${file} is of ${keypair.publicKey.toBase58()}; the ${signer.role} is ${signer.address.toBase58()}.`,
  );
}

function messageOf({ instruction, signer }: Plan, blockhash: string): MessageV0 {
  return new TransactionMessage({
    payerKey: signer.address,
    recentBlockhash: blockhash,
    instructions: [instruction],
  }).compileToV0Message();
}

/** An endpoint that knows a status may know the transaction a moment later. */
async function logsOf(chain: Chain, signature: string): Promise<string[]> {
  for (let tried = 0; tried < LOGS_TRIES; tried += 1) {
    const logs = await chain.logsOf(signature);
    if (logs.length > 0) return logs;
    await new Promise((resolve) => setTimeout(resolve, LOGS_PAUSE_MS));
  }
  return [];
}

function refusal(
  what: string,
  error: Parameters<typeof apiErrorOfTransaction>[0],
  logs: string[],
  { programId }: Chain,
): OperatorError {
  const { reason, onChainError } = apiErrorOfTransaction(error, logs, programId);
  const code = onChainError ? ` (${JSON.stringify(onChainError)})` : '';
  return new OperatorError(`${what}: ${reason}${code}`);
}
