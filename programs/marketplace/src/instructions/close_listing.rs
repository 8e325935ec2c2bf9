use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Signer},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, ListingClosed},
    layout::ListingStatus,
    runtime,
    state::{Escrow, Listing},
};

instruction! {
    /// Closes a listing for ever. The account stays: a listing made anew at its address would revive old credentials.
    close_listing emits ListingClosed;
    args {}
    accounts {
        /// The listing's creator.
        creator: Signer,
        /// The listing.
        listing: ExistingMut<Listing>,
        /// Its escrow, which must be empty.
        escrow: Existing<Escrow> => pda(text "escrow", account listing),
    }
}

pub fn process(input: &Input) -> Outcome {
    let (_, mut accounts) = parse(input)?;
    let address = *accounts.listing.address();
    let listing = &mut *accounts.listing;
    listing.check_creator(accounts.creator.address())?;
    listing.check_open()?;
    let now = runtime::now()?;
    if listing.latest_subscription_expiry > now {
        return Err(Error::ActiveSubscribers.into());
    }
    if accounts.escrow.earnings_lamports > 0 {
        return Err(Error::EscrowNotEmpty.into());
    }
    listing.status = ListingStatus::CLOSED;
    listing.paused_at = 0;
    listing.updated_at = now;
    ListingClosed::new(address, listing.creator).emit();
    Ok(())
}
