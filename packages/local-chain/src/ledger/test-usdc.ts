import { PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import type { AddressedAccount } from './account-state.js';

/** The mint of USDC on devnet: clients that pay in USDC know it, and no other of a test network. */
const TEST_USDC_MINT = new PublicKey('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');

/** The limit of one grant: a million USDC, in its smallest unit. */
export const MAX_USDC_GRANT = 1_000_000_000_000;

const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

const MINT_BYTES = 82;
const AUTHORITY_OFFSET = 4;
const DECIMALS_OFFSET = 44;
const INITIALIZED_OFFSET = 45;
const USDC_DECIMALS = 6;

/** The mint as a new chain has it: no token exists, and the authority can make some. */
export function testUsdcMint(
  authority: PublicKey,
  minimumBalance: (dataBytes: number) => bigint,
): AddressedAccount {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeUInt32LE(1, 0);
  authority.toBuffer().copy(data, AUTHORITY_OFFSET);
  data[DECIMALS_OFFSET] = USDC_DECIMALS;
  data[INITIALIZED_OFFSET] = 1;
  return {
    address: TEST_USDC_MINT.toBytes(),
    account: {
      lamports: minimumBalance(MINT_BYTES),
      owner: TOKEN_PROGRAM.toBytes(),
      executable: false,
      data,
    },
  };
}

/** Creates the wallet's token account where there is none, and puts new tokens there. */
export function usdcGrant(authority: PublicKey, wallet: PublicKey, amount: number): TransactionInstruction[] {
  const [account] = PublicKey.findProgramAddressSync(
    [wallet.toBuffer(), TOKEN_PROGRAM.toBuffer(), TEST_USDC_MINT.toBuffer()],
    ASSOCIATED_TOKEN_PROGRAM,
  );
  const createIdempotent = new TransactionInstruction({
    programId: ASSOCIATED_TOKEN_PROGRAM,
    data: Buffer.of(1),
    keys: [
      { pubkey: authority, isSigner: true, isWritable: true },
      { pubkey: account, isSigner: false, isWritable: true },
      { pubkey: wallet, isSigner: false, isWritable: false },
      { pubkey: TEST_USDC_MINT, isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
      { pubkey: TOKEN_PROGRAM, isSigner: false, isWritable: false },
    ],
  });
  const data = Buffer.alloc(9);
  data[0] = 7;
  data.writeBigUInt64LE(BigInt(amount), 1);
  const mintTo = new TransactionInstruction({
    programId: TOKEN_PROGRAM,
    data,
    keys: [
      { pubkey: TEST_USDC_MINT, isSigner: false, isWritable: true },
      { pubkey: account, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
  });
  return [createIdempotent, mintTo];
}
