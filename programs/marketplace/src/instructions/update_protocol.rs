use pinocchio::Address;

use super::initialize_protocol::{check_fee, check_min_query_price};
use crate::{
    accounts::{AccountKind, ExistingMut, OptionalWallet, Signer},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, ProtocolUpdated},
    layout::{same, Flag, NO_ADDRESS},
    state::Protocol,
};

instruction! {
    /// Changes what is given, keeps what is not. Signed by the pending admin it first completes the hand-over.
    update_protocol emits ProtocolUpdated;
    args {
        /// Offers the admin role; all zeros withdraws the offer.
        pending_admin: Option<&'static Address>,
        /// Replaces the hot key.
        authority: Option<&'static Address>,
        /// A second accepted hot key, for a rotation; all zeros removes it.
        next_authority: Option<&'static Address>,
        /// The fee in basis points, at most 1,000.
        fee_bps: Option<u16>,
        /// The floor of a Per-Task price, 1,000 to 10^15.
        min_query_price_lamports: Option<u64>,
        /// Refuses purchases, renewals, top-ups and new listings.
        paused: Option<bool>,
    }
    accounts {
        /// The admin, or the pending admin who thereby accepts.
        admin: Signer,
        /// The protocol.
        protocol: ExistingMut<Protocol> => pda(text "protocol"),
        /// Replaces the treasury; owned by the System program and rent-exempt.
        new_treasury: OptionalWallet,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    let signer = accounts.admin.address();
    let protocol = &mut *accounts.protocol;
    if !same(signer, &protocol.admin) {
        if !protocol.is_pending_admin(signer) {
            return Err(Error::Unauthorized.into());
        }
        protocol.admin = *signer;
        protocol.pending_admin = NO_ADDRESS;
    }
    if let Some(pending_admin) = args.pending_admin {
        protocol.pending_admin = *pending_admin;
    }
    if let Some(authority) = args.authority {
        protocol.authority = *authority;
    }
    if let Some(next_authority) = args.next_authority {
        protocol.next_authority = *next_authority;
    }
    if let Some(treasury) = accounts.new_treasury.get() {
        treasury.check_treasury()?;
        protocol.treasury = *treasury.address();
    }
    if let Some(fee_bps) = args.fee_bps {
        check_fee(fee_bps)?;
        protocol.fee_bps = fee_bps;
    }
    if let Some(price) = args.min_query_price_lamports {
        check_min_query_price(price)?;
        protocol.min_query_price_lamports = price;
    }
    if let Some(paused) = args.paused {
        protocol.paused = Flag::new(paused);
    }
    ProtocolUpdated::new(
        protocol.admin,
        protocol.pending_admin,
        protocol.authority,
        protocol.next_authority,
        protocol.treasury,
        protocol.fee_bps,
        protocol.min_query_price_lamports,
        protocol.paused,
    )
    .emit();
    Ok(())
}
