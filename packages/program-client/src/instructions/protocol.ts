import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import { findProgramDataAddress, findProtocolAddress } from '../accounts/addresses.js';
import { DEFAULT_FEE_BPS, DEFAULT_MIN_QUERY_PRICE_LAMPORTS } from '../pricing.js';
import { buildInstruction, type ProgramOption } from './build.js';

/** Values of {@link initializeProtocol}. */
export interface InitializeProtocolInput extends ProgramOption {
  /** The program's upgrade authority; signs and pays the account's rent. */
  upgradeAuthority: PublicKey;
  /** The cold key: updates, pauses, revokes. */
  admin: PublicKey;
  /** The hot key: charges runs and co-signs listings. */
  authority: PublicKey;
  /** Receives fees; owned by the System program and rent-exempt. */
  treasury: PublicKey;
  /** Basis points, at most 1,000; default 250. */
  feeBps?: number | undefined;
  /** The floor of a Per-Task price in lamports; default 200,000. */
  minQueryPriceLamports?: bigint | undefined;
}

/**
 * Creates the one `Protocol` account. Signer: the upgrade authority.
 *
 * Errors:
 * - `Unauthorized` for any other signer
 * - `FeeTooHigh`; `PriceTooLow` and `ArithmeticOverflow` for a floor outside 1,000 to 10^15
 * - `AccountNotSystemOwned` (3011) and `ConstraintRentExempt` (2005) for the treasury
 * - `AccountDiscriminatorAlreadySet` (3000) when it exists
 */
export function initializeProtocol(input: InitializeProtocolInput): TransactionInstruction {
  return buildInstruction(
    'initialize_protocol',
    {
      upgrade_authority: input.upgradeAuthority,
      protocol: findProtocolAddress(input.programId).address,
      program_data: findProgramDataAddress(input.programId).address,
      treasury: input.treasury,
      system_program: SystemProgram.programId,
    },
    {
      admin: input.admin,
      authority: input.authority,
      feeBps: input.feeBps ?? DEFAULT_FEE_BPS,
      minQueryPriceLamports: input.minQueryPriceLamports ?? DEFAULT_MIN_QUERY_PRICE_LAMPORTS,
    },
    input.programId,
  );
}

/** Values of {@link updateProtocol}; absent values stay unchanged. */
export interface UpdateProtocolInput extends ProgramOption {
  /** The admin, or the pending admin, whose signature accepts the hand-over before anything else is applied. */
  admin: PublicKey;
  /** Offers the admin role; null withdraws the offer. */
  pendingAdmin?: PublicKey | null | undefined;
  authority?: PublicKey | undefined;
  /** A second accepted hot key; null removes it. */
  nextAuthority?: PublicKey | null | undefined;
  treasury?: PublicKey | undefined;
  /** Basis points, at most 1,000. */
  feeBps?: number | undefined;
  /** The floor of a Per-Task price, in lamports. */
  minQueryPriceLamports?: bigint | undefined;
  /** Refuses purchases, renewals, top-ups and new listings while true. */
  paused?: boolean | undefined;
}

/**
 * Changes the protocol. Signer: the admin, or the pending admin who thereby becomes the admin.
 *
 * Errors: `Unauthorized`, `FeeTooHigh`, `PriceTooLow`, `ArithmeticOverflow`, and for a new treasury
 * `AccountNotSystemOwned` (3011) and `ConstraintRentExempt` (2005).
 */
export function updateProtocol(input: UpdateProtocolInput): TransactionInstruction {
  return buildInstruction(
    'update_protocol',
    {
      admin: input.admin,
      protocol: findProtocolAddress(input.programId).address,
      new_treasury: input.treasury,
    },
    {
      pendingAdmin: input.pendingAdmin === null ? PublicKey.default : input.pendingAdmin,
      authority: input.authority,
      nextAuthority: input.nextAuthority === null ? PublicKey.default : input.nextAuthority,
      feeBps: input.feeBps,
      minQueryPriceLamports: input.minQueryPriceLamports,
      paused: input.paused,
    },
    input.programId,
  );
}
