use pinocchio::Address;

use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Payee, Signer},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, PerQueryAccessRevoked},
    layout::{same, Flag, ListingStatus},
    money, runtime,
    state::{AccessCredential, Listing, PerQueryBalance, Protocol},
};

instruction! {
    /// Ends Per-Task access, and returns what was prepaid. The admin and the creator revoke: balance and rent go to
    /// the buyer, the credential stays as a tombstone. The buyer reclaims: on a closed listing everything; the balance
    /// alone while the listing is suspended or its price is above the agreed maximum, or once pauses within 30 days add up
    /// to 7 days, whether or not the listing is paused now.
    revoke_per_query_access emits PerQueryAccessRevoked;
    args {}
    accounts {
        /// The protocol's admin, the listing's creator, or the buyer.
        revoker: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// Whose balance it is, and who is paid.
        buyer: Payee,
        /// The buyer's credential.
        access_credential: ExistingMut<AccessCredential>
            => pda(text "access_credential", account buyer, account listing),
        /// The buyer's balance.
        per_query_balance: ExistingMut<PerQueryBalance>
            => pda(text "per_query_balance", account buyer, account listing),
    }
}

/// How long a listing must have been paused within 30 days for a buyer to take the balance out: 7 days.
pub const RECLAIM_AFTER_PAUSED_SECONDS: u64 = 604_800;

pub fn process(input: &Input) -> Outcome {
    let (_, mut accounts) = parse(input)?;
    let ends_access = ends_access(accounts.revoker.address(), &accounts)?;
    let refund = accounts.per_query_balance.balance_lamports;
    let event = PerQueryAccessRevoked::new(
        *accounts.listing.address(),
        *accounts.buyer.address(),
        refund,
        Flag::new(ends_access),
    );
    if ends_access {
        accounts.access_credential.valid = Flag::new(false);
        accounts.per_query_balance.close_into(accounts.buyer.view())?;
    } else {
        if refund == 0 {
            return Err(Error::NothingToWithdraw.into());
        }
        accounts.per_query_balance.balance_lamports = 0;
        money::move_lamports(accounts.per_query_balance.view(), accounts.buyer.view(), refund)?;
    }
    event.emit();
    Ok(())
}

/// Whether this signer ends the access (true) or takes the balance out and keeps it (false).
fn ends_access(signer: &Address, accounts: &Accounts) -> Outcome<bool> {
    let listing = &accounts.listing;
    if same(signer, &accounts.protocol.admin) || same(signer, &listing.creator) {
        return Ok(true);
    }
    if !same(signer, accounts.buyer.address()) {
        return Err(Error::Unauthorized.into());
    }
    if listing.status == ListingStatus::CLOSED {
        return Ok(true);
    }
    // It sells no runs, and its creator cannot end that. The credential stays for the time after it.
    if listing.status == ListingStatus::SUSPENDED {
        return Ok(false);
    }
    // Every run would be refused at this price, and a paused listing or protocol takes no top-up that agrees to it.
    if listing.price_lamports > accounts.per_query_balance.max_price_lamports {
        return Ok(false);
    }
    if listing.paused_seconds(runtime::now()?) >= RECLAIM_AFTER_PAUSED_SECONDS {
        return Ok(false);
    }
    Err(Error::Unauthorized.into())
}
