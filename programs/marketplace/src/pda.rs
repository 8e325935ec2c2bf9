//! Program-derived addresses by sha256 and a curve test, the two syscalls inside `find_program_address`, at
//! a fifth of its cost.

use core::mem::MaybeUninit;

use pinocchio::Address;

use crate::layout::same;

const MARKER: &[u8] = b"ProgramDerivedAddress";
const MAX_SEEDS: usize = 3;

/// The address that `seeds` and `bump` give under `program_id`. Does not test the curve.
#[inline(always)]
pub fn derive<const N: usize>(seeds: &[&[u8]; N], bump: u8, program_id: &Address) -> Address {
    const { assert!(N <= MAX_SEEDS) };
    let bump = [bump];
    let mut parts = [const { MaybeUninit::<&[u8]>::uninit() }; MAX_SEEDS + 3];
    let mut i = 0;
    while i < N {
        parts[i].write(seeds[i]);
        i += 1;
    }
    parts[N].write(&bump);
    parts[N + 1].write(program_id.as_ref());
    parts[N + 2].write(MARKER);
    // SAFETY: the first N + 3 parts were written, and `MaybeUninit` has the layout of its content.
    Address::new_from_array(sha256(unsafe { core::slice::from_raw_parts(parts.as_ptr().cast(), N + 3) }))
}

/// Whether `address` is what `seeds` and `bump` give.
#[inline(never)]
pub fn matches<const N: usize>(address: &Address, seeds: &[&[u8]; N], bump: u8, program_id: &Address) -> bool {
    same(&derive(seeds, bump, program_id), address)
}

/// The canonical bump of `address`, the highest whose address is off the curve; none when that is another address.
#[inline(never)]
pub fn canonical_bump<const N: usize>(address: &Address, seeds: &[&[u8]; N], program_id: &Address) -> Option<u8> {
    let mut bump = u8::MAX;
    while bump > 0 {
        let candidate = derive(seeds, bump, program_id);
        if !is_on_curve(&candidate) {
            return same(&candidate, address).then_some(bump);
        }
        bump -= 1;
    }
    None
}

#[inline(always)]
fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = MaybeUninit::<[u8; 32]>::uninit();
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    // SAFETY: the syscall reads the slices and fills all 32 bytes.
    unsafe {
        pinocchio::syscalls::sol_sha256(parts.as_ptr().cast(), parts.len() as u64, hash.as_mut_ptr().cast());
        hash.assume_init()
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    {
        core::hint::black_box((parts, &mut hash));
        unimplemented!("addresses are derived on the chain only")
    }
}

#[inline(always)]
fn is_on_curve(address: &Address) -> bool {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        const ED25519: u64 = 0;
        // SAFETY: the syscall reads 32 bytes, and writes nothing when given no result.
        unsafe {
            pinocchio::syscalls::sol_curve_validate_point(
                ED25519,
                address.as_ref().as_ptr(),
                core::ptr::null_mut(),
            ) == 0
        }
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    {
        core::hint::black_box(address);
        unimplemented!("addresses are derived on the chain only")
    }
}
