use pinocchio::Address;

use super::account;
use crate::{
    error::{Error, Outcome},
    layout::{same, Flag, NO_ADDRESS},
};

account! {
    /// The protocol's configuration; one per program, at `["protocol"]`.
    Protocol {
        /// Updates the protocol, suspends listings and revokes access.
        admin: Address,
        /// Who may accept the admin role; all zeros when there is none.
        pending_admin: Address,
        /// The hot key: charges runs and co-signs new listings.
        authority: Address,
        /// Accepted beside the authority while keys rotate; all zeros when none.
        next_authority: Address,
        /// Receives the fees.
        treasury: Address,
        /// The fee in basis points, out of the price.
        fee_bps: u16,
        /// The floor of a Per-Task price.
        min_query_price_lamports: u64,
        /// Refuses purchases, renewals, top-ups and new listings.
        paused: Flag,
    }
}

/// Whether `role` names `signer`. All zeros name no wallet, not the System program, whose address that is.
#[inline(always)]
fn is_named(signer: &Address, role: &Address) -> bool {
    same(signer, role) && !same(signer, &NO_ADDRESS)
}

impl Protocol {
    /// Refuses everybody but the hot keys.
    #[inline(always)]
    pub fn check_authority(&self, signer: &Address) -> Outcome {
        if same(signer, &self.authority) || is_named(signer, &self.next_authority) {
            Ok(())
        } else {
            Err(Error::Unauthorized.into())
        }
    }

    /// Refuses everybody but the admin.
    #[inline(always)]
    pub fn check_admin(&self, signer: &Address) -> Outcome {
        if same(signer, &self.admin) {
            Ok(())
        } else {
            Err(Error::Unauthorized.into())
        }
    }

    /// True for the one to whom the admin role is offered.
    #[inline(always)]
    pub fn is_pending_admin(&self, signer: &Address) -> bool {
        is_named(signer, &self.pending_admin)
    }

    /// Refuses a sale while the protocol is paused.
    #[inline(always)]
    pub fn check_running(&self) -> Outcome {
        if self.paused.is_set() {
            return Err(Error::ProtocolPaused.into());
        }
        Ok(())
    }
}
