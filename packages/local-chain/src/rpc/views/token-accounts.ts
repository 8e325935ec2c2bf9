import bs58 from 'bs58';
import type { AccountState } from '../../ledger/account-state.js';
import type { Json } from '../json.js';

/** SPL Token and Token-2022. */
export const TOKEN_PROGRAMS: readonly string[] = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
];

const TOKEN_ACCOUNT_BYTES = 165;
const OWNER_OFFSET = 32;
const AMOUNT_OFFSET = 64;
const STATE_OFFSET = 108;
const STATES = ['uninitialized', 'initialized', 'frozen'];
const MINT_DECIMALS_OFFSET = 44;

export function isTokenAccount(data: Uint8Array): boolean {
  return data.length >= TOKEN_ACCOUNT_BYTES && data[STATE_OFFSET] !== 0;
}

/** Whether this is a token account of `owner`, and of `mint` where one is asked for. */
export function isTokenAccountOf(
  { data }: AccountState,
  owner: Uint8Array,
  mint: Uint8Array | null,
): boolean {
  return (
    isTokenAccount(data) &&
    Buffer.compare(data.subarray(OWNER_OFFSET, OWNER_OFFSET + 32), owner) === 0 &&
    (mint === null || Buffer.compare(data.subarray(0, 32), mint) === 0)
  );
}

/** The `jsonParsed` data of an SPL Token account; undefined for everything else. */
export function parsedTokenAccount(
  { owner, data }: AccountState,
  accountAt: (address: Uint8Array) => AccountState | null,
): Json | undefined {
  if (bs58.encode(owner) !== TOKEN_PROGRAMS[0] || data.length !== TOKEN_ACCOUNT_BYTES) return undefined;
  const mint = data.subarray(0, 32);
  const decimals = accountAt(mint)?.data[MINT_DECIMALS_OFFSET];
  if (decimals === undefined) return undefined;
  const amount = Buffer.from(data).readBigUInt64LE(AMOUNT_OFFSET);
  const uiAmountString = decimalText(amount, decimals);
  return {
    program: 'spl-token',
    parsed: {
      type: 'account',
      info: {
        isNative: Buffer.from(data).readUInt32LE(109) === 1,
        mint: bs58.encode(mint),
        owner: bs58.encode(data.subarray(OWNER_OFFSET, OWNER_OFFSET + 32)),
        state: STATES[data[STATE_OFFSET] ?? 0] ?? 'uninitialized',
        tokenAmount: {
          amount: amount.toString(),
          decimals,
          uiAmount: Number(uiAmountString),
          uiAmountString,
        },
      },
    },
    space: data.length,
  };
}

function decimalText(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/u, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
