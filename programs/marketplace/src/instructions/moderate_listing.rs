use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Signer},
    description::{instruction, Input},
    error::Outcome,
    events::{Event, ListingModerated},
    layout::{Flag, ListingStatus},
    runtime,
    state::{Listing, Protocol},
};

instruction! {
    /// Suspends a listing, or lifts that. A suspension is a pause that its creator cannot end, and in which buyers reclaim
    /// at once. A lifted one is a pause, which counts from the beginning of the suspension. Repeating changes nothing.
    moderate_listing emits ListingModerated;
    args {
        /// True suspends, false lifts.
        suspended: bool,
    }
    accounts {
        /// The protocol's admin.
        admin: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: ExistingMut<Listing>,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    let address = *accounts.listing.address();
    let listing = &mut *accounts.listing;
    accounts.protocol.check_admin(accounts.admin.address())?;
    listing.check_open()?;
    let now = runtime::now()?;
    if args.suspended {
        listing.suspend(now);
    } else {
        listing.lift_suspension();
    }
    listing.updated_at = now;
    ListingModerated::new(address, Flag::new(listing.status == ListingStatus::SUSPENDED)).emit();
    Ok(())
}
