//! The runtime's services: logs, return data, clock and rent.

use pinocchio::{
    error::ProgramError,
    sysvars::{clock::CLOCK_ID, get_sysvar_unchecked, rent::RENT_ID},
};

use crate::error::{Error, Outcome};

/// Writes one line of log.
#[inline(always)]
pub fn log(line: &[u8]) {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    unsafe {
        pinocchio::syscalls::sol_log_(line.as_ptr(), line.len() as u64);
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    core::hint::black_box(line);
}

/// Writes one `Program data:` line.
#[inline(always)]
pub fn log_data(bytes: &[u8]) {
    let fields: [&[u8]; 1] = [bytes];
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    unsafe {
        pinocchio::syscalls::sol_log_data(fields.as_ptr().cast(), 1);
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    core::hint::black_box(fields);
}

/// The cluster's time in Unix seconds.
#[inline(always)]
pub fn now() -> Outcome<i64> {
    const UNIX_TIMESTAMP_OFFSET: usize = 32;
    let mut bytes = [0u8; 8];
    // SAFETY: the buffer has the length that is asked for.
    unsafe { get_sysvar_unchecked(bytes.as_mut_ptr(), &CLOCK_ID, UNIX_TIMESTAMP_OFFSET, 8)? };
    Ok(i64::from_le_bytes(bytes))
}

/// The lamports that make an account of `size` bytes rent-exempt.
///
/// Clusters carry two forms of the same sysvar. The older has 3,480 lamports per byte and year, with an exemption
/// threshold of two years. The newer has 6,960, with a threshold of one. Both are honoured, no other threshold exists.
#[inline(never)]
pub fn rent_exempt_minimum(size: u64) -> Outcome<u64> {
    const ACCOUNT_OVERHEAD: u64 = 128;
    const MAX_LAMPORTS_PER_BYTE: u64 = 1 << 40;
    let mut bytes = [0u8; 16];
    // SAFETY: the buffer has the length that is asked for.
    unsafe { get_sysvar_unchecked(bytes.as_mut_ptr(), &RENT_ID, 0, 16)? };
    let (rate, threshold) = bytes.split_at(8);
    let lamports_per_byte = u64::from_le_bytes(rate.try_into().unwrap_or_default());
    let years = u64::from_le_bytes(threshold.try_into().unwrap_or_default());
    if lamports_per_byte > MAX_LAMPORTS_PER_BYTE {
        return Err(Error::ArithmeticOverflow.into());
    }
    // No overflow: sizes here are below 2^10, the rate is at most 2^40.
    let yearly = (size + ACCOUNT_OVERHEAD).wrapping_mul(lamports_per_byte);
    if years == 1f64.to_bits() {
        Ok(yearly)
    } else if years == 2f64.to_bits() {
        Ok(yearly << 1)
    } else {
        Err(ProgramError::UnsupportedSysvar.into())
    }
}
