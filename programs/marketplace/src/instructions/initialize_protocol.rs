use pinocchio::Address;

use crate::{
    accounts::{AccountKind, New, Payer, SystemProgram, Wallet},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, ProtocolInitialized},
    layout::{Flag, NO_ADDRESS},
    money::{MAX_FEE_BPS, MAX_PRICE, MIN_PRICE},
    pda,
    state::Protocol,
};

instruction! {
    /// Creates the one Protocol account. Only the program's upgrade authority may, also right after the deployment.
    initialize_protocol emits ProtocolInitialized;
    args {
        /// The cold key: updates, pauses, revokes.
        admin: &'static Address,
        /// The hot key: charges runs and co-signs listings.
        authority: &'static Address,
        /// The fee in basis points, at most 1,000.
        fee_bps: u16,
        /// The floor of a Per-Task price, 1,000 to 10^15.
        min_query_price_lamports: u64,
    }
    accounts {
        /// The program's upgrade authority; pays the rent.
        upgrade_authority: Payer,
        /// The account to create.
        protocol: New<Protocol> => pda(text "protocol"),
        /// The loader's ProgramData account of this program, which names the upgrade authority.
        program_data: Wallet,
        /// Receives the fees; owned by the System program and rent-exempt.
        treasury: Wallet,
        /// The System program.
        system_program: SystemProgram,
    }
}

const UPGRADEABLE_LOADER: Address = Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    check_upgrade_authority(&accounts.program_data, accounts.upgrade_authority.address(), input.program_id)?;
    check_fee(args.fee_bps)?;
    check_min_query_price(args.min_query_price_lamports)?;
    accounts.treasury.check_treasury()?;

    let treasury = *accounts.treasury.address();
    let protocol = accounts.protocol.create(&accounts.upgrade_authority, 0)?;
    protocol.admin = *args.admin;
    protocol.pending_admin = NO_ADDRESS;
    protocol.authority = *args.authority;
    protocol.next_authority = NO_ADDRESS;
    protocol.treasury = treasury;
    protocol.fee_bps = args.fee_bps;
    protocol.min_query_price_lamports = args.min_query_price_lamports;
    protocol.paused = Flag::new(false);
    ProtocolInitialized::new(*args.admin, *args.authority, treasury, args.fee_bps, args.min_query_price_lamports)
        .emit();
    Ok(())
}

/// Reads the loader's account: tag 3 (u32), slot (u64), then the authority as an option (tag byte, 32 bytes).
fn check_upgrade_authority(program_data: &Wallet, signer: &Address, program_id: &Address) -> Outcome {
    const PROGRAM_DATA_TAG: [u8; 4] = [3, 0, 0, 0];
    const AUTHORITY_TAG_AT: usize = 12;
    const AUTHORITY_AT: usize = 13;
    if pda::canonical_bump(program_data.address(), &[program_id.as_ref()], &UPGRADEABLE_LOADER).is_none() {
        return Err(Error::ConstraintSeeds.into());
    }
    if !program_data.belongs_to(&UPGRADEABLE_LOADER) {
        return Err(Error::AccountOwnedByWrongProgram.into());
    }
    let data = program_data.data();
    if data.len() < AUTHORITY_AT + 32 || data[..4] != PROGRAM_DATA_TAG {
        return Err(Error::AccountDidNotDeserialize.into());
    }
    // A program that cannot be upgraded has no authority, and cannot be initialised.
    if data[AUTHORITY_TAG_AT] != 1 || data[AUTHORITY_AT..AUTHORITY_AT + 32] != *signer.as_ref() {
        return Err(Error::Unauthorized.into());
    }
    Ok(())
}

/// Refuses a fee above the cap.
pub fn check_fee(fee_bps: u16) -> Outcome {
    if fee_bps > MAX_FEE_BPS {
        return Err(Error::FeeTooHigh.into());
    }
    Ok(())
}

/// Refuses a floor that no price could keep.
pub fn check_min_query_price(price: u64) -> Outcome {
    if price < MIN_PRICE {
        return Err(Error::PriceTooLow.into());
    }
    if price > MAX_PRICE {
        return Err(Error::ArithmeticOverflow.into());
    }
    Ok(())
}
