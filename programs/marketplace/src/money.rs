//! Amounts: the fee, the price of a subscription window, and moving lamports between accounts.
//!
//! The target has neither 128-bit arithmetic nor checked multiplication. So each product is split, and
//! cannot overflow for the bounds that are enforced when a price or a fee is set.

use pinocchio::AccountView;

use crate::error::{Error, Outcome};

/// The cap of the protocol fee: 10%.
pub const MAX_FEE_BPS: u16 = 1_000;
/// The lowest price, in lamports.
pub const MIN_PRICE: u64 = 1_000;
/// The highest price, deposit minimum and price floor, in lamports: 1,000,000 SOL.
pub const MAX_PRICE: u64 = 1_000_000_000_000_000;
/// The time that a subscription's price is for, in seconds: 30 days.
pub const SUBSCRIPTION_PERIOD: u64 = 2_592_000;
/// The windows on sale, in seconds: 30, 90 and 365 days.
pub const SUBSCRIPTION_DURATIONS: [u64; 3] = [2_592_000, 7_776_000, 31_536_000];

const BASIS_POINTS: u64 = 10_000;

/// `floor(price * bps / 10,000)`, exact for every price: `bps` is at most [`MAX_FEE_BPS`].
#[inline(always)]
pub const fn fee(price: u64, bps: u16) -> u64 {
    let bps = bps as u64;
    (price / BASIS_POINTS).wrapping_mul(bps) + (price % BASIS_POINTS).wrapping_mul(bps) / BASIS_POINTS
}

/// `floor(price * duration / 2,592,000)`, exact for prices up to [`MAX_PRICE`].
#[inline(always)]
pub fn window_cost(price: u64, duration: u64) -> Outcome<u64> {
    if !SUBSCRIPTION_DURATIONS.contains(&duration) {
        return Err(Error::InvalidDuration.into());
    }
    let whole = (price / SUBSCRIPTION_PERIOD).wrapping_mul(duration);
    let part = (price % SUBSCRIPTION_PERIOD).wrapping_mul(duration) / SUBSCRIPTION_PERIOD;
    Ok(whole + part)
}

/// `a + b`, refused with our own error instead of a panic.
#[inline(always)]
pub fn add(a: u64, b: u64) -> Outcome<u64> {
    a.checked_add(b).ok_or_else(|| Error::ArithmeticOverflow.into())
}

/// `a - b`, refused with our own error instead of a panic.
#[inline(always)]
pub fn subtract(a: u64, b: u64) -> Outcome<u64> {
    a.checked_sub(b).ok_or_else(|| Error::ArithmeticOverflow.into())
}

/// Moves lamports out of an account of this program. `from` and `to` may be the same account.
#[inline(always)]
pub fn move_lamports(mut from: AccountView, mut to: AccountView, amount: u64) -> Outcome {
    from.set_lamports(subtract(from.lamports(), amount)?);
    to.set_lamports(add(to.lamports(), amount)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: [u64; 12] = [
        0,
        1,
        999,
        1_000,
        9_999,
        10_000,
        10_001,
        2_591_999,
        2_592_001,
        123_456_789_012_345,
        MAX_PRICE - 1,
        MAX_PRICE,
    ];

    #[test]
    fn the_fee_is_the_exact_floor() {
        for price in PRICES.into_iter().chain([u64::MAX - 1, u64::MAX]) {
            for bps in 0..=MAX_FEE_BPS {
                let exact = (price as u128) * (bps as u128) / 10_000;
                assert_eq!(fee(price, bps) as u128, exact, "{price} at {bps}");
            }
        }
    }

    #[test]
    fn the_window_costs_the_exact_floor() {
        for price in PRICES {
            for duration in SUBSCRIPTION_DURATIONS {
                let exact = (price as u128) * (duration as u128) / 2_592_000;
                assert_eq!(window_cost(price, duration).unwrap() as u128, exact);
            }
        }
    }

    #[test]
    fn other_durations_are_refused() {
        for duration in [0, 1, 2_591_999, 2_592_001, 31_536_001, u64::MAX] {
            assert!(window_cost(1_000, duration).is_err());
        }
    }
}
