import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** A challenge of MPP, as an answer of 402 has it. */
export interface PaymentChallenge {
  readonly params: Readonly<Record<string, string>>;
  readonly amount: bigint;
  readonly recipient: PublicKey;
  readonly memo: string;
  readonly blockhash: string;
}

/** Reads the challenge of an answer by its text alone, without a client of the protocol. */
export function paymentChallenge(headers: Headers): PaymentChallenge {
  const header = headers.get('www-authenticate') ?? '';
  if (!header.startsWith('Payment ')) throw new Error(`There is no challenge: ${header}`);
  const params = Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  const request = JSON.parse(Buffer.from(params['request'] ?? '', 'base64url').toString()) as {
    amount: string;
    recipient: string;
    externalId: string;
    methodDetails: { recentBlockhash: string };
  };
  return {
    params,
    amount: BigInt(request.amount),
    recipient: new PublicKey(request.recipient),
    memo: request.externalId,
    blockhash: request.methodDetails.recentBlockhash,
  };
}

/** The deviations of a payment from the one that was asked for. */
export interface PaymentChange {
  amount?: bigint;
  recipient?: PublicKey;
  memo?: string | null;
  blockhash?: string;
  more?: (payer: PublicKey) => TransactionInstruction[];
  /** Bears the fee and signs, too. */
  feePayer?: Keypair;
  /** Named as the fee payer, and has not signed. */
  feePayerKey?: PublicKey;
  microLamports?: number;
}

/** Signs the transaction that a challenge asks for, or another one. */
export function signPayment(
  challenge: PaymentChallenge,
  wallet: Keypair,
  change: PaymentChange = {},
): VersionedTransaction {
  const memo = change.memo === undefined ? challenge.memo : change.memo;
  const message = new TransactionMessage({
    payerKey: change.feePayerKey ?? (change.feePayer ?? wallet).publicKey,
    recentBlockhash: change.blockhash ?? challenge.blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: change.microLamports ?? 1 }),
      ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }),
      SystemProgram.transfer({
        fromPubkey: wallet.publicKey,
        toPubkey: change.recipient ?? challenge.recipient,
        lamports: change.amount ?? challenge.amount,
      }),
      ...(memo === null
        ? []
        : [new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(memo) })]),
      ...(change.more?.(wallet.publicKey) ?? []),
    ],
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign(change.feePayer ? [wallet, change.feePayer] : [wallet]);
  return transaction;
}

/** The value of `Authorization` that presents a payment. */
export function paymentCredential(
  { params }: PaymentChallenge,
  paid: VersionedTransaction | { signature: string },
): string {
  const payload =
    paid instanceof VersionedTransaction
      ? { type: 'transaction', transaction: Buffer.from(paid.serialize()).toString('base64') }
      : { type: 'signature', signature: paid.signature };
  return `Payment ${Buffer.from(JSON.stringify({ challenge: params, payload })).toString('base64url')}`;
}
