import { PublicKey } from '@solana/web3.js';

/** SPL Token, which owns the mints and the accounts of USDC. */
export const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');

const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

/** USDC has so many digits after the point: 1,000,000 units are one. */
export const USDC_DECIMALS = 6;

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
