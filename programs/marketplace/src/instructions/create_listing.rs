use crate::{
    accounts::{AccountKind, Existing, New, Payer, Signer, SystemProgram},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, ListingCreated},
    layout::{ListingIdString, ListingStatus, RentalModel, MAX_LISTING_ID_LEN},
    runtime,
    state::{Escrow, Listing, Protocol},
};

instruction! {
    /// Creates a listing and its escrow. The protocol's authority co-signs, after the review: rentals are final.
    create_listing emits ListingCreated;
    args {
        /// 1 to 32 bytes; the seed of the address, never usable again.
        listing_id: &'static str,
        /// How it is rented; never changes.
        rental_model: RentalModel,
        /// 1,000 to 10^15; a Per-Task price at least the protocol's floor. For a subscription, per 30 days.
        price_lamports: u64,
        /// The least first deposit of a Per-Task rental, at least the price; stored as 0 for the other models.
        min_deposit_lamports: u64,
        /// Where the public part of the manifest is, at most 200 bytes.
        metadata_uri: &'static str,
    }
    accounts {
        /// Owns the listing, and pays the rent of both accounts.
        creator: Payer,
        /// The protocol's authority, or its next authority.
        authority: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing to create.
        listing: New<Listing> => pda(text "listing", arg listing_id),
        /// The escrow to create.
        escrow: New<Escrow> => pda(text "escrow", account listing),
        /// The System program.
        system_program: SystemProgram,
    }
}

pub fn process(input: &Input) -> Outcome {
    check_id_length(input.data)?;
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_running()?;
    accounts.protocol.check_authority(accounts.authority.address())?;
    let now = runtime::now()?;
    let (address, creator) = (*accounts.listing.address(), *accounts.creator.address());

    let listing = accounts.listing.create(&accounts.creator, 0)?;
    listing.creator = creator;
    listing.rental_model = args.rental_model;
    listing.status = ListingStatus::ACTIVE;
    listing.set_prices(
        args.price_lamports,
        args.min_deposit_lamports,
        accounts.protocol.min_query_price_lamports,
    )?;
    listing.created_at = now;
    listing.updated_at = now;
    listing.set_listing_id(args.listing_id.as_bytes());
    listing.set_metadata_uri(args.metadata_uri)?;
    let event = ListingCreated::new(
        address,
        creator,
        listing.rental_model,
        listing.price_lamports,
        listing.min_deposit_lamports,
        ListingIdString::new(args.listing_id.as_bytes()),
    );

    let escrow = accounts.escrow.create(&accounts.creator, 0)?;
    escrow.listing = address;
    let unused = { event.listing_id }.unused();
    event.emit_without(unused);
    Ok(())
}

/// Refuses an id that cannot be a seed, before it is used as one. It is the first argument.
#[inline(always)]
fn check_id_length(data: &[u8]) -> Outcome {
    match data.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize) {
        Some(length) if (1..=MAX_LISTING_ID_LEN).contains(&length) => Ok(()),
        _ => Err(Error::InstructionDidNotDeserialize.into()),
    }
}
