//! The marketplace program: listings, rentals, prepaid balances, earnings.
//!
//! Inside it is pinocchio; outside it is what Anchor clients expect: discriminators, borsh, account layouts, the
//! `AnchorError occurred` log line, the IDL. It has no id compiled in and uses the one that it runs with.

#![cfg_attr(not(any(test, feature = "idl")), no_std)]
// The entrypoint and the kinds of accounts read the runtime's input by pointers; each use says why it holds.
#![deny(unsafe_op_in_unsafe_fn)]

pub mod accounts;
pub mod charge_window;
pub mod description;
pub mod discriminator;
pub mod error;
pub mod events;
#[cfg(feature = "idl")]
pub mod idl;
pub mod instructions;
pub mod layout;
pub mod money;
pub mod pause_history;
pub mod pda;
pub mod reader;
pub mod runtime;
pub mod state;

#[cfg(any(target_os = "solana", target_arch = "bpf"))]
mod entrypoint {
    use core::mem::MaybeUninit;

    use pinocchio::{entrypoint::deserialize, no_allocator, nostd_panic_handler, AccountView, SUCCESS};

    use crate::description::Input;

    /// More accounts than any instruction of a transaction takes, `consume_queries` with as many charges as fit included;
    /// those beyond are not read.
    const MAX_ACCOUNTS: usize = 64;

    /// The runtime's entrypoint.
    #[no_mangle]
    unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
        let mut accounts = [const { MaybeUninit::<AccountView>::uninit() }; MAX_ACCOUNTS];
        // SAFETY: the runtime passes a valid input, and `deserialize` writes the first `count` accounts.
        let (program_id, accounts, data) = unsafe {
            let (program_id, count, data) = deserialize(input, &mut accounts);
            (program_id, core::slice::from_raw_parts(accounts.as_ptr().cast(), count), data)
        };
        match super::process(Input { program_id, accounts, data }) {
            Ok(()) => SUCCESS,
            Err(refusal) => refusal.code(),
        }
    }

    no_allocator!();
    nostd_panic_handler!();
}

/// The functions that LLVM calls for larger copies and fills: upstream's BPF target has no C library.
#[cfg(target_arch = "bpf")]
mod memory {
    use pinocchio::syscalls::{sol_memcpy_, sol_memset_};

    #[no_mangle]
    unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, size: usize) -> *mut u8 {
        // SAFETY: memcpy's contract is the syscall's: valid ranges that do not overlap.
        unsafe { sol_memcpy_(to, from, size as u64) };
        to
    }

    #[no_mangle]
    unsafe extern "C" fn memset(to: *mut u8, value: i32, size: usize) -> *mut u8 {
        // SAFETY: memset's contract is the syscall's: a valid range.
        unsafe { sol_memset_(to, value as u8, size as u64) };
        to
    }
}

use description::Input;
use error::{Error, Outcome};
use instructions as ix;

/// Finds the instruction by its discriminator and runs it.
#[inline(always)]
pub fn process(mut input: Input) -> Outcome {
    let Some((discriminator, rest)) = input.data.split_first_chunk::<8>() else {
        return Err(Error::InstructionMissing.into());
    };
    let discriminator = u64::from_le_bytes(*discriminator);
    input.data = rest;
    // The most frequent instructions come first.
    if discriminator == ix::consume_query::DISCRIMINATOR {
        return ix::consume_query::process(&input);
    }
    if discriminator == ix::consume_queries::DISCRIMINATOR {
        return ix::consume_queries::process(&input);
    }
    if discriminator == ix::verify_access::DISCRIMINATOR {
        return ix::verify_access::process(&input);
    }
    dispatch(discriminator, &input)
}

#[inline(never)]
fn dispatch(discriminator: u64, input: &Input) -> Outcome {
    match discriminator {
        ix::initialize_protocol::DISCRIMINATOR => ix::initialize_protocol::process(input),
        ix::create_listing::DISCRIMINATOR => ix::create_listing::process(input),
        ix::update_listing::DISCRIMINATOR => ix::update_listing::process(input),
        ix::close_listing::DISCRIMINATOR => ix::close_listing::process(input),
        ix::moderate_listing::DISCRIMINATOR => ix::moderate_listing::process(input),
        ix::purchase_one_time::DISCRIMINATOR => ix::purchase_one_time::process(input),
        ix::purchase_subscription::DISCRIMINATOR => ix::purchase_subscription::process(input),
        ix::purchase_per_query::DISCRIMINATOR => ix::purchase_per_query::process(input),
        ix::renew_subscription::DISCRIMINATOR => ix::renew_subscription::process(input),
        ix::topup_balance::DISCRIMINATOR => ix::topup_balance::process(input),
        ix::fund_balance::DISCRIMINATOR => ix::fund_balance::process(input),
        ix::revoke_access::DISCRIMINATOR => ix::revoke_access::process(input),
        ix::revoke_per_query_access::DISCRIMINATOR => ix::revoke_per_query_access::process(input),
        ix::withdraw_earnings::DISCRIMINATOR => ix::withdraw_earnings::process(input),
        ix::update_protocol::DISCRIMINATOR => ix::update_protocol::process(input),
        _ => Err(Error::InstructionFallbackNotFound.into()),
    }
}
