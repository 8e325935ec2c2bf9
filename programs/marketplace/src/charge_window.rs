//! Which sequences of a balance were charged: the highest one, and a bit for each of the 256 up to it.
//!
//! Bit `i` of the window is sequence `highest - i`. A sequence that left the window counts as charged, so that
//! each is charged at most once, for any resends in any order.

use crate::error::Error;

/// How far a charge may jump above the highest sequence.
pub const MAX_JUMP: u64 = 1_024;

const WORDS: usize = 4;
const WORD_BITS: u64 = 64;

/// The window as an account holds it.
pub type Window = [u64; WORDS];

/// Marks `sequence` as charged and gives the new highest sequence.
#[inline(always)]
pub fn consume(window: &mut Window, highest: u64, sequence: u64) -> Result<u64, Error> {
    consume_in::<WORD_BITS>(window, highest, sequence)
}

/// The same for any number of bits per word, so that a test can exhaust a small window of the same four words.
#[inline(always)]
fn consume_in<const BITS: u64>(window: &mut Window, highest: u64, sequence: u64) -> Result<u64, Error> {
    if sequence > highest {
        let jump = sequence - highest;
        if jump > MAX_JUMP {
            return Err(Error::SequenceTooFar);
        }
        shift::<BITS>(window, jump);
        window[0] |= 1;
        return Ok(sequence);
    }
    let age = highest - sequence;
    let word = (age / BITS) as usize;
    if word >= WORDS {
        return Err(Error::RunAlreadyConsumed);
    }
    let bit = 1u64 << (age % BITS);
    if window[word] & bit != 0 {
        return Err(Error::RunAlreadyConsumed);
    }
    window[word] |= bit;
    Ok(highest)
}

/// Makes every bit older by `by`; bits that leave the window are dropped.
#[inline(always)]
fn shift<const BITS: u64>(window: &mut Window, by: u64) {
    // Four words on there is nothing left to move.
    let mut words = (by / BITS).min(WORDS as u64);
    let bits = by % BITS;
    while words > 0 {
        *window = [0, window[0], window[1], window[2]];
        words -= 1;
    }
    if bits > 0 {
        let mask = if BITS == 64 { u64::MAX } else { (1 << BITS) - 1 };
        let over = BITS - bits;
        let [w0, w1, w2, w3] = *window;
        *window = [
            (w0 << bits) & mask,
            ((w1 << bits) | (w0 >> over)) & mask,
            ((w2 << bits) | (w1 >> over)) & mask,
            ((w3 << bits) | (w2 >> over)) & mask,
        ];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The same rule, written with a set of the charged sequences.
    fn oracle(charged: &BTreeSet<u64>, highest: u64, width: u64, sequence: u64) -> Result<(), Error> {
        if sequence > highest + MAX_JUMP {
            Err(Error::SequenceTooFar)
        } else if sequence + width <= highest || charged.contains(&sequence) {
            Err(Error::RunAlreadyConsumed)
        } else {
            Ok(())
        }
    }

    fn window_of<const BITS: u64>(charged: &BTreeSet<u64>, highest: u64) -> Window {
        let mut window = [0u64; WORDS];
        for sequence in charged {
            let age = highest - sequence;
            if age < BITS * WORDS as u64 {
                window[(age / BITS) as usize] |= 1 << (age % BITS);
            }
        }
        window
    }

    #[test]
    fn every_window_of_width_eight_takes_every_sequence_once() {
        const BITS: u64 = 2;
        const WIDTH: u64 = 8;
        for highest in [0u64, 3, 7, 8, 100] {
            for bits in 0u64..256 {
                let charged: BTreeSet<u64> =
                    (0..WIDTH).filter(|i| bits >> i & 1 == 1 && *i <= highest).map(|i| highest - i).collect();
                let candidates = (highest.saturating_sub(WIDTH + 3)..=highest + WIDTH + 3).chain([
                    highest + MAX_JUMP - 1,
                    highest + MAX_JUMP,
                    highest + MAX_JUMP + 1,
                ]);
                for sequence in candidates {
                    let mut window = window_of::<BITS>(&charged, highest);
                    let before = window;
                    let found = consume_in::<BITS>(&mut window, highest, sequence);
                    match oracle(&charged, highest, WIDTH, sequence) {
                        Err(error) => {
                            assert_eq!(found, Err(error));
                            assert_eq!(window, before, "a refusal changes nothing");
                        }
                        Ok(()) => {
                            let mut after = charged.clone();
                            after.insert(sequence);
                            let top = highest.max(sequence);
                            assert_eq!(found, Ok(top));
                            assert_eq!(window, window_of::<BITS>(&after, top));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_real_window_agrees_with_a_set_over_a_long_walk() {
        let mut window = [0u64; WORDS];
        let (mut highest, mut charged, mut random) = (0u64, BTreeSet::new(), 0x9e3779b97f4a7c15u64);
        for _ in 0..200_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let sequence = match random % 8 {
                0 => highest + 1,
                1 => highest + random / 8 % 70,
                2 => highest + random / 8 % 1_100,
                3 => highest.saturating_sub(random / 8 % 300),
                4 => highest.saturating_sub(255),
                5 => highest.saturating_sub(256),
                _ => highest.saturating_sub(random / 8 % 256),
            };
            let expected = oracle(&charged, highest, 256, sequence);
            let found = consume(&mut window, highest, sequence);
            assert_eq!(found.map(|_| ()), expected, "sequence {sequence} at {highest}");
            if let Ok(top) = found {
                charged.insert(sequence);
                highest = top;
            }
        }
        assert!(charged.len() > 10_000);
    }

    #[test]
    fn the_first_charge_may_be_sequence_zero_once() {
        let mut window = [0u64; WORDS];
        assert_eq!(consume(&mut window, 0, 0), Ok(0));
        assert_eq!(consume(&mut window, 0, 0), Err(Error::RunAlreadyConsumed));
    }
}
