import {
  type Blockhash,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { AuthoritySigner } from '../../chain/index.js';

/** SPL Token, which owns the mints and the accounts of USDC. */
export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');

const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

/** USDC has so many digits after the point: 1,000,000 units are one. */
export const USDC_DECIMALS = 6;

const OF_TEST_NETWORKS = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');

/** The mint of USDC on each network. */
export const USDC_MINTS = {
  localnet: OF_TEST_NETWORKS,
  devnet: OF_TEST_NETWORKS,
  mainnet: new PublicKey('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
} as const;

const ACCOUNT_BYTES = 165;
const OWNER_OFFSET = 32;
const AMOUNT_OFFSET = 64;
const STATE_OFFSET = 108;
const INITIALIZED = 1;

/** The address where a wallet keeps a token of this mint, by the convention of all wallets. */
export function tokenAccountOf(owner: PublicKey, mint: PublicKey): PublicKey {
  const seeds = [owner.toBuffer(), TOKEN_PROGRAM.toBuffer(), mint.toBuffer()];
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0];
}

/** The units in a wallet's token account; null where it is none of this wallet and mint, or cannot take a payment. */
export function unitsIn(
  account: { readonly owner: PublicKey; readonly data: Uint8Array } | null,
  { owner, mint }: { owner: PublicKey; mint: PublicKey },
): bigint | null {
  if (account === null || !account.owner.equals(TOKEN_PROGRAM)) return null;
  const data = Buffer.from(account.data);
  const isOurs =
    data.length === ACCOUNT_BYTES &&
    data[STATE_OFFSET] === INITIALIZED &&
    data.subarray(0, OWNER_OFFSET).equals(mint.toBuffer()) &&
    data.subarray(OWNER_OFFSET, AMOUNT_OFFSET).equals(owner.toBuffer());
  return isOurs ? data.readBigUInt64LE(AMOUNT_OFFSET) : null;
}

/** Makes a wallet's token account, which the wallet pays for; nothing where it is there. */
export function createTokenAccount(owner: PublicKey, mint: PublicKey): TransactionInstruction {
  return new TransactionInstruction({
    programId: ASSOCIATED_TOKEN_PROGRAM,
    data: Buffer.of(1),
    keys: [
      { pubkey: owner, isSigner: true, isWritable: true },
      { pubkey: tokenAccountOf(owner, mint), isSigner: false, isWritable: true },
      { pubkey: owner, isSigner: false, isWritable: false },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: TOKEN_PROGRAM, isSigner: false, isWritable: false },
    ],
  });
}

/** Moves tokens between the accounts of two wallets. */
export function transferTokens(
  mint: PublicKey,
  { from, to, units }: { from: PublicKey; to: PublicKey; units: bigint },
): TransactionInstruction {
  const data = Buffer.alloc(10);
  data[0] = 12;
  data.writeBigUInt64LE(units, 1);
  data[9] = USDC_DECIMALS;
  return new TransactionInstruction({
    programId: TOKEN_PROGRAM,
    data,
    keys: [
      { pubkey: tokenAccountOf(from, mint), isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: tokenAccountOf(to, mint), isSigner: false, isWritable: true },
      { pubkey: from, isSigner: true, isWritable: false },
    ],
  });
}

/** The bytes of a transaction that one key pays for and signs. */
export async function signedBy(
  signer: AuthoritySigner,
  instructions: TransactionInstruction[],
  recentBlockhash: Blockhash,
): Promise<{ signature: string; bytes: Uint8Array }> {
  const message = new TransactionMessage({ payerKey: signer.publicKey, recentBlockhash, instructions });
  const compiled = message.compileToV0Message();
  const signature = await signer.sign(compiled.serialize());
  const bytes = new VersionedTransaction(compiled, [signature]).serialize();
  return { signature: bs58.encode(signature), bytes };
}
