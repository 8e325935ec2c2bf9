use pinocchio::Address;

use super::account;
use crate::{
    error::{Error, Outcome},
    layout::{ListingStatus, RentalModel, MAX_LISTING_ID_LEN},
    money::{MAX_PRICE, MIN_PRICE},
    pause_history::PauseHistory,
    runtime,
};

/// The longest metadata URI in bytes.
pub const MAX_METADATA_URI_LEN: usize = 200;

/// How long after a change runs may still be charged at the price before it, in seconds: 15 minutes.
pub const PREVIOUS_PRICE_SECONDS: i64 = 900;

const LENGTH_PREFIX: usize = 4;

account! {
    /// An agent on offer, at `["listing", listing_id]`. It is never deleted: a closed one stays as a tombstone.
    Listing {
        /// Who offers it and earns.
        creator: Address,
        /// How it is rented; never changes.
        rental_model: RentalModel,
        /// Whether it is on offer.
        status: ListingStatus,
        /// One-Time: once. Subscription: per 30 days. Per-Task: per run.
        price_lamports: u64,
        /// The least first deposit of a Per-Task rental; 0 for the other models.
        min_deposit_lamports: u64,
        /// Since when it is paused or suspended, Unix seconds; 0 while it is neither.
        paused_at: i64,
        /// The end of the longest-running subscription ever sold, Unix seconds.
        latest_subscription_expiry: i64,
        /// Counts the updates.
        revision: u64,
        /// Unix seconds.
        created_at: i64,
        /// Unix seconds.
        updated_at: i64,
    }
    later {
        /// The price before the last change; 0 before the first.
        previous_price_lamports: u64,
        /// When the price last changed, Unix seconds; 0 before the first change.
        price_changed_at: i64,
        /// Bit i: half a day of pause was completed in the half day `pause_latest - i`.
        pause_units: u64,
        /// The half day in which the last pause ended: Unix seconds / 43,200.
        pause_latest: u32,
        /// The paused seconds since the last of these half days of pause was completed.
        pause_remainder: u16,
    }
    strings(LENGTH_PREFIX + MAX_LISTING_ID_LEN + LENGTH_PREFIX + MAX_METADATA_URI_LEN) {
        /// The id that the address comes from, 1 to 32 bytes.
        listing_id,
        /// Where the public part of the manifest is, at most 200 bytes.
        metadata_uri,
    }
}

impl Listing {
    /// The id, for the seeds of the address.
    #[inline(always)]
    pub fn listing_id(&self) -> &[u8] {
        let length = self.strings[0] as usize;
        self.strings.get(LENGTH_PREFIX..LENGTH_PREFIX + length).unwrap_or_default()
    }

    /// Writes the id of a new listing; the caller has checked its length.
    pub fn set_listing_id(&mut self, id: &[u8]) {
        self.write_string(0, id);
    }

    /// Replaces the URI behind the id, and leaves nothing of the old one.
    pub fn set_metadata_uri(&mut self, uri: &str) -> Outcome {
        if uri.len() > MAX_METADATA_URI_LEN {
            return Err(Error::MetadataUriTooLong.into());
        }
        let at = LENGTH_PREFIX + self.strings[0] as usize;
        if let Some(room) = self.strings.get_mut(at..) {
            room.fill(0);
        }
        self.write_string(at, uri.as_bytes());
        Ok(())
    }

    /// Writes a borsh string.
    #[inline(always)]
    fn write_string(&mut self, at: usize, text: &[u8]) {
        let start = at + LENGTH_PREFIX;
        if let Some(prefix) = self.strings.get_mut(at..start) {
            prefix.copy_from_slice(&(text.len() as u32).to_le_bytes());
        }
        if let Some(room) = self.strings.get_mut(start..start + text.len()) {
            room.copy_from_slice(text);
        }
    }

    /// Sets price and deposit minimum together, by the rules of the rental model.
    pub fn set_prices(&mut self, price: u64, min_deposit: u64, min_query_price: u64) -> Outcome {
        let is_per_query = self.rental_model == RentalModel::PER_QUERY;
        let floor = if is_per_query { min_query_price.max(MIN_PRICE) } else { MIN_PRICE };
        if price < floor {
            return Err(Error::PriceTooLow.into());
        }
        if price > MAX_PRICE || min_deposit > MAX_PRICE {
            return Err(Error::ArithmeticOverflow.into());
        }
        if is_per_query && min_deposit < price {
            return Err(Error::DepositTooLow.into());
        }
        self.price_lamports = price;
        self.min_deposit_lamports = if is_per_query { min_deposit } else { 0 };
        Ok(())
    }

    /// Remembers the price before a change; setting the same price again is no change.
    #[inline(always)]
    pub fn note_price_change(&mut self, before: u64, now: i64) {
        if self.price_lamports != before {
            self.previous_price_lamports = before;
            self.price_changed_at = now;
        }
    }

    /// Refuses to charge a price that is neither the present one nor, shortly after a change, the one before it.
    #[inline(always)]
    pub fn check_price(&self, price: u64) -> Outcome {
        if price == self.price_lamports || self.was_price_lately(price)? {
            Ok(())
        } else {
            Err(Error::PriceChanged.into())
        }
    }

    #[inline(always)]
    fn was_price_lately(&self, price: u64) -> Outcome<bool> {
        if price != self.previous_price_lamports || self.price_changed_at == 0 {
            return Ok(false);
        }
        Ok(runtime::now()?.saturating_sub(self.price_changed_at) < PREVIOUS_PRICE_SECONDS)
    }

    /// Takes the listing off sale. One that is paused or suspended keeps the time since which it is.
    #[inline(always)]
    pub fn pause(&mut self, now: i64) {
        if self.status == ListingStatus::ACTIVE {
            self.status = ListingStatus::PAUSED;
            self.paused_at = now;
        }
    }

    /// Puts the listing back on sale, and adds the pause to the counted pauses. A suspended one is refused.
    #[inline(always)]
    pub fn resume(&mut self, now: i64) -> Outcome {
        if self.status == ListingStatus::SUSPENDED {
            return Err(Error::ListingNotActive.into());
        }
        if self.status == ListingStatus::PAUSED {
            let history = self.pause_history().with_pause(self.paused_at, now);
            self.pause_units = history.units;
            self.pause_latest = history.latest;
            self.pause_remainder = history.remainder;
            self.status = ListingStatus::ACTIVE;
            self.paused_at = 0;
        }
        Ok(())
    }

    /// Begins a pause that its creator cannot end. It counts from the beginning of a pause that goes on.
    #[inline(always)]
    pub fn suspend(&mut self, now: i64) {
        self.pause(now);
        self.status = ListingStatus::SUSPENDED;
    }

    /// Makes a suspension a pause, which its creator ends.
    #[inline(always)]
    pub fn lift_suspension(&mut self) {
        if self.status == ListingStatus::SUSPENDED {
            self.status = ListingStatus::PAUSED;
        }
    }

    #[inline(always)]
    fn pause_history(&self) -> PauseHistory {
        PauseHistory { units: self.pause_units, latest: self.pause_latest, remainder: self.pause_remainder }
    }

    /// The paused seconds that count at `now`: at least the pauses of the last 30 days. From a suspended listing buyers
    /// reclaim without them.
    #[inline(always)]
    pub fn paused_seconds(&self, now: i64) -> u64 {
        let paused_at = (self.status == ListingStatus::PAUSED).then_some(self.paused_at);
        self.pause_history().counted(paused_at, now)
    }

    /// Refuses a listing that is paused, suspended or closed.
    #[inline(always)]
    pub fn check_active(&self) -> Outcome {
        if self.status == ListingStatus::ACTIVE {
            Ok(())
        } else {
            Err(Error::ListingNotActive.into())
        }
    }

    /// Refuses a listing that is closed; one that is paused or suspended passes.
    #[inline(always)]
    pub fn check_open(&self) -> Outcome {
        if self.status == ListingStatus::CLOSED {
            Err(Error::ListingNotActive.into())
        } else {
            Ok(())
        }
    }

    /// Refuses a listing of another rental model.
    #[inline(always)]
    pub fn check_model(&self, model: RentalModel) -> Outcome {
        if self.rental_model == model {
            Ok(())
        } else {
            Err(Error::InvalidAccessType.into())
        }
    }

    /// Refuses everybody but the creator.
    #[inline(always)]
    pub fn check_creator(&self, signer: &Address) -> Outcome {
        if crate::layout::same(signer, &self.creator) {
            Ok(())
        } else {
            Err(Error::Unauthorized.into())
        }
    }

    /// Remembers the end of a subscription that was sold.
    #[inline(always)]
    pub fn note_subscription(&mut self, expires_at: i64) {
        self.latest_subscription_expiry = { self.latest_subscription_expiry }.max(expires_at);
    }
}
