import { isPublicKey } from '@agent-rental/ed25519';
import { PublicKey, SystemProgram, VersionedTransaction, type Connection } from '@solana/web3.js';
import bs58 from 'bs58';
import type { CallOptions } from '../../client.js';
import { apiError, reach } from './chain-errors.js';
import { sendAndConfirm, type SendingConnection } from './send-and-confirm.js';
import { makeMessage } from './unsigned-message.js';
import type { WalletSigner } from '../wallets/signer.js';

/** What the network takes for a signature. */
const SIGNATURE_FEE_LAMPORTS = 5_000n;

/** What is used of a web3.js `Connection` to transfer SOL. */
export type TransferConnection = SendingConnection & Pick<Connection, 'getBalance' | 'getLatestBlockhash'>;

/** A transfer that is confirmed. */
export interface ConfirmedTransfer {
  /** Base58. */
  signature: string;
  /** What arrived. */
  lamports: bigint;
}

/**
 * Transfers SOL from a signer's wallet, and waits until it is confirmed.
 *
 * @param lamports or `all`: whatever is there, less the network's fee, so that nothing stays
 * @throws ApiError `invalid_request` when the wallet holds too little, or the address is one on the curve that has no
 *   private key, such as the System program's; `service_unavailable` when it expired before it
 *   landed; ConnectionError
 */
export async function transferSol(
  connection: TransferConnection,
  signer: WalletSigner,
  to: PublicKey | string,
  lamports: bigint | 'all',
  { signal }: CallOptions = {},
): Promise<ConfirmedTransfer> {
  const [from, receiver] = [new PublicKey(signer.address), new PublicKey(to)];
  // A program-derived address is off the curve, and a program may sign for it.
  if (PublicKey.isOnCurve(receiver.toBytes()) && !isPublicKey(receiver.toBytes())) {
    throw apiError(
      'invalid_request',
      `What is sent to ${receiver.toBase58()} is lost: it has no private key.`,
    );
  }
  const held = BigInt(await reach(() => connection.getBalance(from, 'confirmed')));
  const amount = lamports === 'all' ? held - SIGNATURE_FEE_LAMPORTS : lamports;
  if (amount <= 0n || amount + SIGNATURE_FEE_LAMPORTS > held) {
    throw apiError(
      'invalid_request',
      `The wallet ${signer.address} holds ${held} lamports, too little for the amount and the network's fee.`,
    );
  }
  const transfer = SystemProgram.transfer({
    fromPubkey: from,
    toPubkey: receiver,
    lamports: amount,
  });
  const { message, lastValidBlockHeight } = await makeMessage(connection, from, [transfer], signal);
  const wire = await signer.signTransaction(new VersionedTransaction(message).serialize());
  const [first = new Uint8Array()] = VersionedTransaction.deserialize(wire).signatures;
  const signature = bs58.encode(first);
  const programId = SystemProgram.programId;
  await sendAndConfirm(connection, { wire, signature, lastValidBlockHeight, programId }, signal);
  return { signature, lamports: amount };
}
