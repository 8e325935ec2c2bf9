//! Accounts of this program that exist, or may exist.

use core::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use pinocchio::{AccountView, Address};

use super::{is_owned_by, require, AccountKind, DerivedAccount};
use crate::{
    error::{Error, Outcome, Refusal},
    layout::{same, SYSTEM_PROGRAM},
    money, pda,
    state::{State, ACCOUNT_VERSION},
};

/// Checks that an account is one of the program's, of type `T`.
#[inline(never)]
fn check_state<T: State>(view: AccountView, program_id: &Address) -> Outcome {
    if !is_owned_by(&view, program_id) {
        return Err(not_ours::<T>(&view));
    }
    check_layout::<T>(&view)
}

#[cold]
#[inline(never)]
fn not_ours<T: State>(view: &AccountView) -> Refusal {
    if is_missing(view) { T::MISSING } else { Error::AccountOwnedByWrongProgram }.into()
}

#[inline(always)]
pub(super) fn check_layout<T: State>(view: &AccountView) -> Outcome {
    if view.data_len() != T::SIZE {
        return Err(Error::AccountDiscriminatorMismatch.into());
    }
    // SAFETY: the size was checked, `State` types are packed and have no invalid values, and the discriminator
    // is their first field.
    let (discriminator, state) = unsafe { (view.data_ptr().cast::<u64>().read_unaligned(), state_of::<T>(view)) };
    require(discriminator == T::DISCRIMINATOR, Error::AccountDiscriminatorMismatch)?;
    require(state.version() == ACCOUNT_VERSION, Error::AccountDidNotDeserialize)
}

/// An address that nothing was created at; lamports that were sent there do not count.
#[inline(always)]
fn is_missing(view: &AccountView) -> bool {
    is_owned_by(view, &SYSTEM_PROGRAM) && view.is_data_empty()
}

/// # Safety
/// The account's data must be at least `T::SIZE` bytes, and no mutable reference to it may be alive.
#[inline(always)]
pub(super) unsafe fn state_of<T: State>(view: &AccountView) -> &'static T {
    // SAFETY: guaranteed by the caller.
    unsafe { &*view.data_ptr().cast::<T>() }
}

/// An account of the program that must exist.
pub struct Existing<T>(AccountView, PhantomData<T>);

/// An account of the program that must exist, and is written.
pub struct ExistingMut<T>(AccountView, PhantomData<T>);

#[inline(always)]
fn check_stored_bump<T: State, const N: usize>(
    view: &AccountView,
    seeds: &[&'static [u8]; N],
    program_id: &'static Address,
) -> Outcome {
    // The account is the program's own, so it was created at the canonical bump, which it stores.
    // SAFETY: parsing checked size and type.
    let bump = unsafe { state_of::<T>(view) }.bump();
    require(pda::matches(view.address(), seeds, bump, program_id), Error::ConstraintSeeds)
}

/// As [`check_stored_bump`], without a call.
#[inline(always)]
fn check_stored_bump_inline<T: State, const N: usize>(
    view: &AccountView,
    seeds: &[&'static [u8]; N],
    program_id: &'static Address,
) -> Outcome {
    // SAFETY: parsing checked size and type.
    let bump = unsafe { state_of::<T>(view) }.bump();
    require(same(&pda::derive(seeds, bump, program_id), view.address()), Error::ConstraintSeeds)
}

macro_rules! existing_kind {
    ($name:ident, writable: $writable:literal) => {
        impl<T: State> AccountKind for $name<T> {
            const WRITABLE: bool = $writable;

            #[inline(always)]
            fn parse(view: AccountView, program_id: &'static Address) -> Outcome<Self> {
                require(!$writable || view.is_writable(), Error::ConstraintMut)?;
                check_state::<T>(view, program_id)?;
                Ok($name(view, PhantomData))
            }

            #[inline(always)]
            fn view(&self) -> AccountView {
                self.0
            }

            #[inline(always)]
            fn check_usable(&self) -> Outcome {
                (**self).check_usable()
            }
        }

        impl<T: State> DerivedAccount for $name<T> {
            #[inline(always)]
            fn check_seeds<const N: usize>(
                &mut self,
                seeds: &[&'static [u8]; N],
                program_id: &'static Address,
            ) -> Outcome {
                check_stored_bump::<T, N>(&self.0, seeds, program_id)
            }
        }

        impl<T: State> $name<T> {
            /// As `check_seeds`, without a call.
            #[inline(always)]
            pub fn check_seeds_inline<const N: usize>(
                &self,
                seeds: &[&'static [u8]; N],
                program_id: &'static Address,
            ) -> Outcome {
                check_stored_bump_inline::<T, N>(&self.0, seeds, program_id)
            }

            /// The account's state, in the form of the kind that may be missing.
            #[inline(always)]
            pub fn state(&self) -> Option<&T> {
                Some(self)
            }
        }

        impl<T: State> Deref for $name<T> {
            type Target = T;

            #[inline(always)]
            fn deref(&self) -> &T {
                // SAFETY: parsing checked size and type. No instruction takes two accounts of one type, so no
                // other reference points to this data.
                unsafe { &*self.0.data_ptr().cast::<T>() }
            }
        }
    };
}

existing_kind!(Existing, writable: false);
existing_kind!(ExistingMut, writable: true);

impl<T: State> DerefMut for ExistingMut<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` is the only way to a mutable reference.
        unsafe { &mut *self.0.data_mut_ptr().cast::<T>() }
    }
}

impl<T: State> ExistingMut<T> {
    /// Gives all lamports to `to` and the address back to the System program.
    #[inline(always)]
    pub fn close_into(self, to: AccountView) -> Outcome {
        let mut view = self.0;
        money::move_lamports(view, to, view.lamports())?;
        // SAFETY: `self` is consumed, so no reference to the data is left.
        unsafe { view.close_unchecked() };
        Ok(())
    }
}

/// An account of the program that may or may not exist. Only reading instructions take it.
pub struct Maybe<T> {
    view: AccountView,
    exists: bool,
    _type: PhantomData<T>,
}

impl<T: State> AccountKind for Maybe<T> {
    #[inline(always)]
    fn parse(view: AccountView, program_id: &'static Address) -> Outcome<Self> {
        let exists = if is_owned_by(&view, program_id) {
            check_layout::<T>(&view)?;
            true
        } else {
            require(is_missing(&view), Error::AccountOwnedByWrongProgram)?;
            false
        };
        Ok(Maybe { view, exists, _type: PhantomData })
    }

    #[inline(always)]
    fn view(&self) -> AccountView {
        self.view
    }
}

impl<T: State> DerivedAccount for Maybe<T> {
    #[inline(always)]
    fn check_seeds<const N: usize>(
        &mut self,
        seeds: &[&'static [u8]; N],
        program_id: &'static Address,
    ) -> Outcome {
        if self.exists {
            check_stored_bump::<T, N>(&self.view, seeds, program_id)
        } else {
            Ok(())
        }
    }
}

impl<T: State> Maybe<T> {
    /// As `check_seeds`, without a call.
    #[inline(always)]
    pub fn check_seeds_inline<const N: usize>(
        &self,
        seeds: &[&'static [u8]; N],
        program_id: &'static Address,
    ) -> Outcome {
        if self.exists {
            check_stored_bump_inline::<T, N>(&self.view, seeds, program_id)
        } else {
            Ok(())
        }
    }

    /// The account's state, if it exists.
    #[inline(always)]
    pub fn state(&self) -> Option<&T> {
        // SAFETY: parsing checked size and type of an account that exists.
        self.exists.then(|| unsafe { &*self.view.data_ptr().cast::<T>() })
    }
}
