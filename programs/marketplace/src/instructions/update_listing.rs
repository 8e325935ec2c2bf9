use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Signer},
    description::{instruction, Input},
    error::Outcome,
    events::{Event, ListingUpdated},
    layout::{Flag, ListingStatus},
    money::add,
    runtime,
    state::{Listing, Protocol},
};

instruction! {
    /// Changes what is given, keeps what is not; pauses and resumes. Every call raises the revision. A suspended listing
    /// is not resumed.
    update_listing emits ListingUpdated;
    args {
        /// As at creation.
        price_lamports: Option<u64>,
        /// As at creation; ignored unless the listing is Per-Task.
        min_deposit_lamports: Option<u64>,
        /// As at creation.
        metadata_uri: Option<&'static str>,
        /// True takes the listing off sale, false puts it back.
        paused: Option<bool>,
    }
    accounts {
        /// The listing's creator.
        creator: Signer,
        /// The protocol, for the floor of a Per-Task price.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: ExistingMut<Listing>,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    let address = *accounts.listing.address();
    let listing = &mut *accounts.listing;
    listing.check_creator(accounts.creator.address())?;
    listing.check_open()?;
    let now = runtime::now()?;

    if args.price_lamports.is_some() || args.min_deposit_lamports.is_some() {
        let price = args.price_lamports.unwrap_or(listing.price_lamports);
        let min_deposit = args.min_deposit_lamports.unwrap_or(listing.min_deposit_lamports);
        let before = listing.price_lamports;
        listing.set_prices(price, min_deposit, accounts.protocol.min_query_price_lamports)?;
        listing.note_price_change(before, now);
    }
    if let Some(uri) = args.metadata_uri {
        listing.set_metadata_uri(uri)?;
    }
    match args.paused {
        Some(true) => listing.pause(now),
        Some(false) => listing.resume(now)?,
        None => {}
    }
    listing.revision = add(listing.revision, 1)?;
    listing.updated_at = now;
    ListingUpdated::new(
        address,
        listing.revision,
        Flag::new(listing.status != ListingStatus::ACTIVE),
        listing.price_lamports,
        listing.min_deposit_lamports,
    )
    .emit();
    Ok(())
}
