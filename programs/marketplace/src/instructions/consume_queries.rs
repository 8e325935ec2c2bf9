use pinocchio::{AccountView, Address};

use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Payee, Signer},
    description::{instruction, Input},
    error::{Error, Outcome},
    instructions::charge::{QueryCharge, Till},
    layout::same,
    state::{AccessCredential, Escrow, Listing, PerQueryBalance, Protocol},
};

instruction! {
    /// Charges several runs of one listing, each as `consume_query` would, in their order: all of them, or none. Behind
    /// the accounts named here come two for each charge, in the order of the charges: the buyer's credential, and the
    /// buyer's balance, writable. A balance may be charged several times. Each charge logs its own `QueryConsumed`. A
    /// refusal that is about one charge has its place, counted from 1, in the upper 16 of the custom error's 32 bits.
    consume_queries;
    args {
        /// The charges.
        charges: &'static [QueryCharge],
    }
    accounts {
        /// The protocol's authority, or its next authority.
        authority: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => inline_pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// Its escrow.
        escrow: ExistingMut<Escrow> => repeats(text "escrow", account listing),
        /// The protocol's treasury.
        treasury: Payee => named_by(protocol),
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_authority(accounts.authority.address())?;
    accounts.listing.check_open()?;
    let listing = accounts.listing.address();
    let mut till = Till {
        protocol: &accounts.protocol,
        listing: &accounts.listing,
        escrow: &mut accounts.escrow,
        treasury: &accounts.treasury,
    };
    let mut rentals = input.accounts.get(ACCOUNT_COUNT..).unwrap_or_default();
    let mut place = 0u16;
    for charge in args.charges {
        let [credential, balance, others @ ..] = rentals else {
            return Err(Error::AccountNotEnoughKeys.into());
        };
        rentals = others;
        place = place.saturating_add(1);
        balance_of(*credential, *balance, listing, input.program_id)
            .and_then(|mut balance| till.charge(&mut balance, charge))
            .map_err(|refusal| refusal.of_charge(place))?;
    }
    Ok(())
}

/// The balance to charge, once both accounts are known to be of the same buyer and of this listing. They are known by the
/// seeds in their fields, as `repeats` knows an account.
#[inline(always)]
fn balance_of(
    credential: AccountView,
    balance: AccountView,
    listing: &Address,
    program_id: &'static Address,
) -> Outcome<ExistingMut<PerQueryBalance>> {
    let credential = Existing::<AccessCredential>::parse(credential, program_id)?;
    if !same(&credential.listing, listing) {
        return Err(Error::ConstraintSeeds.into());
    }
    credential.check_usable()?;
    let balance = ExistingMut::<PerQueryBalance>::parse(balance, program_id)?;
    if !(same(&balance.buyer, &credential.buyer) && same(&balance.listing, listing)) {
        return Err(Error::ConstraintSeeds.into());
    }
    Ok(balance)
}
