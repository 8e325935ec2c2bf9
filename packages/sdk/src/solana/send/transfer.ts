import { isPublicKey } from '@agent-rental/ed25519';
import { PublicKey, SystemProgram, VersionedTransaction, type Connection } from '@solana/web3.js';
import bs58 from 'bs58';
import type { CallOptions } from '../../client.js';
import { apiError, reach } from './chain-errors.js';
import { sendAndConfirm, type SendingConnection } from './send-and-confirm.js';
import { makeMessage } from './unsigned-message.js';
import type { WalletSigner } from '../wallets/signer.js';

/** The network fee for a signature. */
const SIGNATURE_FEE_LAMPORTS = 5_000n;

/** The used part of a web3.js `Connection`. */
export type TransferConnection = SendingConnection & Pick<Connection, 'getBalance' | 'getLatestBlockhash'>;

/** A confirmed transfer. */
export interface ConfirmedTransfer {
  /** Base58. */
  signature: string;
  /** The transferred amount. */
  lamports: bigint;
}

/**
 * Transfers SOL from a signer's wallet, and waits until it is confirmed.
 *
 * @param lamports the amount, or `all` for the whole balance less the network fee
 * @throws ApiError `invalid_request` if the wallet holds too little. Also if the address is on the curve but has no private
 *   key, such as the System program's.
 * @throws ApiError `service_unavailable` if the transfer expired before it landed.
 * @throws ConnectionError
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
      `A transfer to ${receiver.toBase58()} would be lost: the address has no private key.`,
    );
  }
  const held = BigInt(await reach(() => connection.getBalance(from, 'processed')));
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
