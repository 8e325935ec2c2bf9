//! The common steps of buying a credential and extending one.

use crate::{
    accounts::{pay, AccountKind, ExistingMut, New, Payee, Payer},
    error::{Error, Outcome},
    layout::{Flag, RentalModel},
    money,
    state::{AccessCredential, Escrow, PerQueryBalance},
};

/// A price on its way from the buyer. One argument instead of five: the target has five registers for them.
pub struct Payment<'a> {
    pub buyer: &'a Payer,
    pub escrow: &'a mut ExistingMut<Escrow>,
    pub treasury: &'a Payee,
    pub fee_bps: u16,
    pub price: u64,
}

/// Takes the price from the buyer: the fee for the treasury out of it, the rest earned. Gives the fee.
#[inline(never)]
pub fn take_payment(payment: &mut Payment) -> Outcome<u64> {
    let Payment { buyer, escrow, treasury, fee_bps, price } = payment;
    let fee = money::fee(*price, *fee_bps);
    escrow.earn(money::subtract(*price, fee)?)?;
    // One transfer by the System program, the fee then moved by this one, costs a third less than two transfers.
    pay(buyer, escrow.view(), *price)?;
    money::move_lamports(escrow.view(), treasury.view(), fee)?;
    Ok(fee)
}

/// Refuses a price that the payer did not agree to.
#[inline(always)]
pub fn check_agreed(price: u64, max_price: u64) -> Outcome {
    if price > max_price {
        return Err(Error::PriceAboveLimit.into());
    }
    Ok(())
}

/// When a window of `duration` seconds from `now` ends.
#[inline(always)]
pub fn expiry(now: i64, duration: u64) -> Outcome<i64> {
    now.checked_add(duration as i64).ok_or_else(|| Error::ArithmeticOverflow.into())
}

/// The values of a new credential.
pub struct Grant<'a> {
    pub payer: &'a Payer,
    pub buyer: &'a pinocchio::Address,
    pub listing: &'a pinocchio::Address,
    pub rental_model: RentalModel,
    pub now: i64,
    pub expires_at: i64,
}

/// Creates a credential at the payer's expense.
#[inline(never)]
pub fn grant(credential: &mut New<AccessCredential>, grant: &Grant) -> Outcome {
    let state = credential.create(grant.payer, 0)?;
    state.buyer = *grant.buyer;
    state.listing = *grant.listing;
    state.rental_model = grant.rental_model;
    state.valid = Flag::new(true);
    state.purchased_at = grant.now;
    state.expires_at = grant.expires_at;
    Ok(())
}

/// Creates a buyer's balance, which holds the deposit but has not booked it, at the payer's expense.
#[inline(never)]
pub fn open_balance(balance: &mut New<PerQueryBalance>, grant: &Grant, deposit: u64) -> Outcome {
    let state = balance.create(grant.payer, deposit)?;
    state.buyer = *grant.buyer;
    state.listing = *grant.listing;
    Ok(())
}
