use pinocchio::{cpi::set_return_data, Address};

use crate::{
    accounts::Maybe,
    description::{instruction, Input},
    error::Outcome,
    layout::{ListingStatus, RentalModel},
    runtime,
    state::{AccessCredential, Listing, PerQueryBalance},
};

instruction! {
    /// Whether a wallet may use a listing now: one byte of return data, to be read by simulation. It needs no
    /// signature. What does not exist is false and no error; a paused listing keeps its credentials, and a suspended one
    /// gives no access.
    verify_access returns bool;
    args {
        /// The renter's wallet.
        buyer: &'static Address,
        /// The listing's id.
        listing_id: &'static str,
    }
    accounts {
        /// The listing.
        listing: Maybe<Listing> => inline_pda(text "listing", arg listing_id),
        /// The buyer's credential.
        access_credential: Maybe<AccessCredential> => repeats(text "access_credential", arg buyer, account listing),
        /// The buyer's balance; its address is needed for every rental model.
        per_query_balance: Maybe<PerQueryBalance> => inline_pda(text "per_query_balance", arg buyer, account listing),
    }
}

pub fn process(input: &Input) -> Outcome {
    let (_, accounts) = parse(input)?;
    set_return_data(&[has_access(&accounts)? as u8]);
    Ok(())
}

#[inline(always)]
fn has_access(accounts: &Accounts) -> Outcome<bool> {
    let (Some(listing), Some(credential)) = (accounts.listing.state(), accounts.access_credential.state()) else {
        return Ok(false);
    };
    if matches!(listing.status, ListingStatus::CLOSED | ListingStatus::SUSPENDED) || !credential.valid.is_set() {
        return Ok(false);
    }
    match credential.rental_model {
        RentalModel::PER_QUERY => {
            let price = listing.price_lamports;
            // Enough for a run at a price that the buyer agreed to: where a charge would be refused, there is no access.
            Ok(accounts
                .per_query_balance
                .state()
                .is_some_and(|balance| balance.balance_lamports >= price && balance.max_price_lamports >= price))
        }
        RentalModel::SUBSCRIPTION => Ok(!credential.is_expired(runtime::now()?)),
        RentalModel::ONE_TIME => Ok(true),
        // A further model gives no access before it is named here.
        _ => Ok(false),
    }
}
