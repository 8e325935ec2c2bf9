//! The kinds of accounts that an instruction's description can name, and the structural checks each brings:
//! signer, writable, owner, discriminator, layout version, address.
//!
//! Order of the checks of one account: writable, signer, owner (or existence), discriminator and version, address.
//! The last check is whether it may be used at all (a revoked credential may not).

mod created;
mod stored;
mod wallets;

pub use created::{Ensured, New};
pub use stored::{Existing, ExistingMut, Maybe};
pub use wallets::{pay, OptionalWallet, Payee, Payer, Signer, SystemProgram, Wallet};

use pinocchio::{AccountView, Address};

use crate::{
    error::{Error, Outcome},
    layout::same,
};

/// One kind of account.
pub trait AccountKind: Sized {
    /// Must have signed.
    const SIGNER: bool = false;
    /// Must be writable.
    const WRITABLE: bool = false;
    /// May be left out, by passing the program's own id.
    const OPTIONAL: bool = false;
    /// The only address that is accepted, in base58.
    const ADDRESS: Option<&'static str> = None;

    /// Checks the account alone, without other accounts.
    fn parse(view: AccountView, program_id: &'static Address) -> Outcome<Self>;

    /// The account itself.
    fn view(&self) -> AccountView;

    /// Its address.
    #[inline(always)]
    fn address(&self) -> &'static Address {
        address_of(&self.view())
    }

    /// The last check, once the address is known to be right.
    #[inline(always)]
    fn check_usable(&self) -> Outcome {
        Ok(())
    }
}

/// A kind whose address comes from seeds. The others do not implement it, so that a description cannot ask a
/// wallet for an address that is not checked.
pub trait DerivedAccount: AccountKind {
    /// Checks that the account is where its seeds say.
    fn check_seeds<const N: usize>(&mut self, seeds: &[&'static [u8]; N], program_id: &'static Address)
        -> Outcome;
}

/// The address of an account, for as long as the instruction runs.
#[inline(always)]
fn address_of(view: &AccountView) -> &'static Address {
    // SAFETY: the runtime's input buffer outlives the instruction, and addresses in it never change.
    unsafe { &*core::ptr::from_ref(view.address()) }
}

#[inline(always)]
fn require(holds: bool, error: Error) -> Outcome {
    if holds {
        Ok(())
    } else {
        Err(error.into())
    }
}

/// As `AccountView::owned_by`, but it compares words.
#[inline(always)]
fn is_owned_by(view: &AccountView, program_id: &Address) -> bool {
    // SAFETY: the header is part of the runtime's input, and the owner is read while nothing writes it.
    same(unsafe { &(*view.account_ptr()).owner }, program_id)
}
