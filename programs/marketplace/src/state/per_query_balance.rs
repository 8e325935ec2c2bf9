use pinocchio::Address;

use super::account;
use crate::{
    charge_window::Window,
    error::{Error, Outcome},
    money::add,
};

account! {
    /// A renter's prepaid balance, at `["per_query_balance", buyer, listing]`.
    PerQueryBalance {
        /// Whose it is.
        buyer: Address,
        /// What it pays for.
        listing: Address,
        /// What can be spent.
        balance_lamports: u64,
        /// The highest price per run that the buyer agreed to.
        max_price_lamports: u64,
        /// Ever deposited.
        total_deposited_lamports: u64,
        /// Ever spent.
        total_spent_lamports: u64,
        /// The highest sequence charged; 0 also before the first charge.
        highest_sequence: u64,
        /// Bit i of these 256, least significant first: sequence `highest_sequence - i` was charged.
        window: [u64; 4],
    }
    state {
        // Its credential was found before, so that the credential is of another rental model.
        const MISSING: Error = Error::InvalidAccessType;
    }
}

impl PerQueryBalance {
    /// Books a deposit; the lamports are moved by the caller.
    #[inline(always)]
    pub fn deposit(&mut self, lamports: u64) -> Outcome {
        self.balance_lamports = add(self.balance_lamports, lamports)?;
        self.total_deposited_lamports = add(self.total_deposited_lamports, lamports)?;
        Ok(())
    }

    /// Marks a sequence as charged.
    #[inline(always)]
    pub fn consume_sequence(&mut self, sequence: u64) -> Outcome {
        let mut window: Window = self.window;
        self.highest_sequence = crate::charge_window::consume(&mut window, self.highest_sequence, sequence)?;
        self.window = window;
        Ok(())
    }

    /// Refuses a price that the buyer did not agree to, or that the balance does not cover.
    #[inline(always)]
    pub fn check_covers(&self, price: u64) -> Outcome {
        if price > self.max_price_lamports {
            return Err(Error::PriceAboveLimit.into());
        }
        if price > self.balance_lamports {
            return Err(Error::InsufficientBalance.into());
        }
        Ok(())
    }
}
