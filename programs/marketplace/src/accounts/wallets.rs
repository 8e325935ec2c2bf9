//! People and programs: accounts that this program neither creates nor reads.

use pinocchio::{AccountView, Address};
use pinocchio_system::instructions::Transfer;

use super::{is_owned_by, require, AccountKind};
use crate::{
    error::{Error, Outcome},
    layout::{same, SYSTEM_PROGRAM},
    runtime,
};

macro_rules! plain_kinds {
    ($($(#[doc = $doc:expr])+ $name:ident { signer: $signer:literal, writable: $writable:literal },)+) => {
        $(
            $(#[doc = $doc])+
            pub struct $name(AccountView);

            impl AccountKind for $name {
                const SIGNER: bool = $signer;
                const WRITABLE: bool = $writable;

                #[inline(always)]
                fn parse(view: AccountView, _: &'static Address) -> Outcome<Self> {
                    require(!$writable || view.is_writable(), Error::ConstraintMut)?;
                    require(!$signer || view.is_signer(), Error::AccountNotSigner)?;
                    Ok($name(view))
                }

                #[inline(always)]
                fn view(&self) -> AccountView {
                    self.0
                }
            }
        )+
    };
}

plain_kinds! {
    /// A signer.
    Signer { signer: true, writable: false },
    /// A signer that pays or is paid.
    Payer { signer: true, writable: true },
    /// Any address.
    Wallet { signer: false, writable: false },
    /// Any address that is paid.
    Payee { signer: false, writable: true },
}

impl Wallet {
    /// Refuses a wallet that a program owns, or that is not rent-exempt.
    pub fn check_treasury(&self) -> Outcome {
        require(is_owned_by(&self.0, &SYSTEM_PROGRAM), Error::AccountNotSystemOwned)?;
        let minimum = runtime::rent_exempt_minimum(self.0.data_len() as u64)?;
        require(self.0.lamports() >= minimum, Error::ConstraintRentExempt)
    }

    /// True when the account belongs to `program`.
    #[inline(always)]
    pub fn belongs_to(&self, program: &Address) -> bool {
        is_owned_by(&self.0, program)
    }

    /// The account's data.
    #[inline(always)]
    pub fn data(&self) -> &[u8] {
        // SAFETY: this program never writes to an account of this kind.
        unsafe { self.0.borrow_unchecked() }
    }
}

/// A wallet that may be left out.
pub struct OptionalWallet {
    wallet: Wallet,
    is_given: bool,
}

impl AccountKind for OptionalWallet {
    const OPTIONAL: bool = true;

    #[inline(always)]
    fn parse(view: AccountView, program_id: &'static Address) -> Outcome<Self> {
        let is_given = !same(view.address(), program_id);
        Ok(OptionalWallet { wallet: Wallet(view), is_given })
    }

    #[inline(always)]
    fn view(&self) -> AccountView {
        self.wallet.0
    }
}

impl OptionalWallet {
    /// The wallet, unless it was left out.
    #[inline(always)]
    pub fn get(&self) -> Option<&Wallet> {
        self.is_given.then_some(&self.wallet)
    }
}

/// The System program, which creates accounts and moves the lamports of wallets.
pub struct SystemProgram(AccountView);

impl AccountKind for SystemProgram {
    const ADDRESS: Option<&'static str> = Some("11111111111111111111111111111111");

    #[inline(always)]
    fn parse(view: AccountView, _: &'static Address) -> Outcome<Self> {
        require(same(view.address(), &SYSTEM_PROGRAM), Error::InvalidProgramId)?;
        Ok(SystemProgram(view))
    }

    #[inline(always)]
    fn view(&self) -> AccountView {
        self.0
    }
}

/// Pays out of a wallet that signed.
#[inline(never)]
pub fn pay(from: &Payer, to: AccountView, lamports: u64) -> Outcome {
    Transfer { from: &from.view(), to: &to, lamports }.invoke()?;
    Ok(())
}
