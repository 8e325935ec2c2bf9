import {
  ACCOUNT_SIZES,
  decodeInstruction,
  findListingAddress,
  type AccountName,
} from '@agent-rental/program-client';
import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

/** The kinds of tampering with a proposal. */
export type Tampering =
  /** A priority fee of 84,000 lamports. */
  | 'priority fee'
  /** A transfer of 1 SOL beside it. */
  | 'transfer'
  /** The same once more. */
  | 'again';

/** Changes a transaction that is proposed, as a thief would; takes and gives base64. */
export function tamperedTransaction(base64: string, how: Tampering): string {
  const { message } = VersionedTransaction.deserialize(Buffer.from(base64, 'base64'));
  const { instructions, payerKey, recentBlockhash } = TransactionMessage.decompile(message);
  const changed = {
    'priority fee': () => [
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 60_000n }),
      ...instructions,
    ],
    transfer: () => [
      ...instructions,
      SystemProgram.transfer({
        fromPubkey: payerKey,
        toPubkey: new PublicKey('SysvarRent111111111111111111111111111111111'),
        lamports: 1_000_000_000,
      }),
    ],
    again: () => [...instructions, ...instructions],
  }[how]();
  const made = new TransactionMessage({ payerKey, recentBlockhash, instructions: changed });
  return Buffer.from(new VersionedTransaction(made.compileToV0Message()).serialize()).toString('base64');
}

/** The most that a transaction takes from the wallet that pays it. */
export interface Outflow {
  /** Id of the listing that it pays for; `unknown` for anything else in it. */
  readonly listing: string;
  /** Whether it rents. Of several transactions that rent one listing for one wallet, the program accepts one. */
  readonly isRent: boolean;
  readonly lamports: number;
  /** The most that it agrees to for each run. */
  readonly perRun?: number;
}

/** Reads the outflow of a transaction independently: a reference for tests of code that judges transactions. */
export function outflowOf(wire: Uint8Array, listingIds: readonly string[]): Outflow {
  const { message } = VersionedTransaction.deserialize(wire);
  const keys = message.staticAccountKeys;
  const keyAt = (index: number): PublicKey => keys[index] ?? PublicKey.default;
  const rentOf = (name: AccountName): number => (ACCOUNT_SIZES[name] + 128) * 6_960;
  let out: Outflow = { listing: 'unknown', isRent: false, lamports: 0 };
  let [fee, payments] = [5_000 * message.header.numRequiredSignatures, 0];
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    if (keyAt(programIdIndex).equals(ComputeBudgetProgram.programId)) {
      const price = data[0] === 3 ? Buffer.from(data).readBigUInt64LE(1) : 0n;
      fee += Number((price * 1_400_000n + 999_999n) / 1_000_000n);
      continue;
    }
    payments += 1;
    const decoded = decodeInstruction(data, accountKeyIndexes.map(keyAt));
    const listing = listingIds.find((id) =>
      decoded?.accounts['listing']?.equals(findListingAddress(id).address),
    );
    if (!decoded || listing === undefined) continue;
    const { depositLamports, amountLamports, maxPriceLamports } = decoded.args;
    const prepaid = depositLamports ?? amountLamports;
    const isRent = decoded.name.startsWith('purchase_');
    const rent =
      (isRent ? rentOf('AccessCredential') : 0) +
      (decoded.name === 'purchase_per_query' ? rentOf('PerQueryBalance') : 0);
    out = {
      listing,
      isRent,
      lamports: Number(prepaid ?? maxPriceLamports) + rent,
      ...(prepaid === undefined ? {} : { perRun: Number(maxPriceLamports) }),
    };
  }
  return payments === 1
    ? { ...out, lamports: out.lamports + fee }
    : { listing: 'unknown', isRent: false, lamports: Number.MAX_SAFE_INTEGER };
}
