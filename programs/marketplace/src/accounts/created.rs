//! Accounts that an instruction creates.

use core::marker::PhantomData;

use pinocchio::{
    cpi::{Seed, Signer as CpiSigner},
    AccountView, Address,
};
use pinocchio_system::instructions::{Allocate, Assign, CreateAccount, Transfer};

use super::{
    is_owned_by, require,
    stored::{check_layout, state_of},
    AccountKind, DerivedAccount, Payer,
};
use crate::{
    error::{Error, Outcome},
    money, pda, runtime,
    state::State,
};

/// An account that the instruction creates, always at the canonical bump: a second one at another bump would
/// outlive a revoke of the first.
pub struct New<T> {
    view: AccountView,
    program_id: &'static Address,
    bump: u8,
    seeds: [&'static [u8]; 3],
    _type: PhantomData<T>,
}

impl<T: State> AccountKind for New<T> {
    const WRITABLE: bool = true;

    #[inline(always)]
    fn parse(view: AccountView, program_id: &'static Address) -> Outcome<Self> {
        require(view.is_writable(), Error::ConstraintMut)?;
        Ok(New { view, program_id, bump: 0, seeds: [&[]; 3], _type: PhantomData })
    }

    #[inline(always)]
    fn view(&self) -> AccountView {
        self.view
    }

    #[inline(always)]
    fn check_usable(&self) -> Outcome {
        if !is_owned_by(&self.view, self.program_id) {
            return Ok(());
        }
        check_layout::<T>(&self.view)?;
        // SAFETY: size and type were just checked.
        unsafe { state_of::<T>(&self.view) }.refuse_existing()
    }
}

impl<T: State> DerivedAccount for New<T> {
    #[inline(always)]
    fn check_seeds<const N: usize>(
        &mut self,
        seeds: &[&'static [u8]; N],
        program_id: &'static Address,
    ) -> Outcome {
        let Some(bump) = pda::canonical_bump(self.view.address(), seeds, program_id) else {
            return Err(Error::ConstraintSeeds.into());
        };
        self.bump = bump;
        self.seeds[..N].copy_from_slice(seeds);
        Ok(())
    }
}

impl<T: State> New<T> {
    /// The state of the account, once it is created.
    #[inline(always)]
    pub fn state_mut(&mut self) -> Outcome<&mut T> {
        check_layout::<T>(&self.view)?;
        // SAFETY: size and type are checked, and `&mut self` is the only way to this reference.
        Ok(unsafe { &mut *self.view.data_mut_ptr().cast::<T>() })
    }

    /// Creates the account, rent and `extra` lamports paid by `payer`, and gives its zeroed state with the head
    /// written.
    #[inline(always)]
    pub fn create(&mut self, payer: &Payer, extra: u64) -> Outcome<&mut T> {
        create_account(&mut NewAccount {
            payer: payer.view(),
            account: self.view,
            owner: self.program_id,
            seeds: self.seeds,
            bump: self.bump,
            space: T::SIZE as u64,
            extra,
        })?;
        // SAFETY: the account was just made with `T::SIZE` zeroed bytes, and nothing else refers to them.
        let state = unsafe { &mut *self.view.data_mut_ptr().cast::<T>() };
        state.begin(self.bump);
        Ok(state)
    }
}

/// An account that the instruction creates where it does not exist yet.
pub struct Ensured<T> {
    new: New<T>,
    exists: bool,
}

impl<T: State> AccountKind for Ensured<T> {
    const WRITABLE: bool = true;

    #[inline(always)]
    fn parse(view: AccountView, program_id: &'static Address) -> Outcome<Self> {
        let new = New::parse(view, program_id)?;
        let exists = is_owned_by(&view, program_id);
        if exists {
            check_layout::<T>(&view)?;
        }
        Ok(Ensured { new, exists })
    }

    #[inline(always)]
    fn view(&self) -> AccountView {
        self.new.view
    }

    #[inline(always)]
    fn check_usable(&self) -> Outcome {
        if !self.exists {
            return Ok(());
        }
        // SAFETY: parsing checked size and type.
        unsafe { state_of::<T>(&self.new.view) }.check_usable()
    }
}

impl<T: State> DerivedAccount for Ensured<T> {
    /// An account that exists was created at the canonical bump, too.
    #[inline(always)]
    fn check_seeds<const N: usize>(
        &mut self,
        seeds: &[&'static [u8]; N],
        program_id: &'static Address,
    ) -> Outcome {
        self.new.check_seeds(seeds, program_id)
    }
}

impl<T: State> Ensured<T> {
    /// The account to create, where it does not exist.
    #[inline(always)]
    pub fn missing(&mut self) -> Option<&mut New<T>> {
        (!self.exists).then_some(&mut self.new)
    }

    /// The state of the account, which exists or was created by now.
    #[inline(always)]
    pub fn state_mut(&mut self) -> Outcome<&mut T> {
        self.new.state_mut()
    }
}

/// The inputs of [`create_account`], as one argument: the target has five registers for arguments.
struct NewAccount {
    payer: AccountView,
    account: AccountView,
    owner: &'static Address,
    seeds: [&'static [u8]; 3],
    bump: u8,
    space: u64,
    extra: u64,
}

/// Anyone can send lamports to the address beforehand, and then `CreateAccount` refuses. Lamports at the address count
/// towards the rent (never towards `extra`), and the account is allocated and assigned instead.
#[inline(never)]
fn create_account(new: &mut NewAccount) -> Outcome {
    let bump = [new.bump];
    // A seed that is not used is empty, which does not change the address.
    let seeds = [Seed::from(new.seeds[0]), Seed::from(new.seeds[1]), Seed::from(new.seeds[2]), Seed::from(&bump)];
    let signers = [CpiSigner::from(&seeds)];
    let (payer, owner, space) = (&new.payer, new.owner, new.space);
    let account = &mut new.account;
    let present = account.lamports();
    let rent = runtime::rent_exempt_minimum(space)?;
    let lamports = money::add(rent.saturating_sub(present), new.extra)?;
    if present == 0 {
        CreateAccount { from: payer, to: account, lamports, space, owner }.invoke_signed(&signers)?;
        return Ok(());
    }
    Transfer { from: payer, to: account, lamports }.invoke()?;
    Allocate { account, space }.invoke_signed(&signers)?;
    Assign { account, owner }.invoke_signed(&signers)?;
    Ok(())
}
