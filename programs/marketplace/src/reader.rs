//! Reads instruction arguments: borsh, strict (no trailing bytes, no other tags, UTF-8 only).

use pinocchio::Address;

use crate::{
    error::{Error, Outcome},
    instructions::charge::QueryCharge,
    layout::{IdlName, RentalModel},
};

/// The unread rest of the instruction's data.
pub struct Reader {
    rest: &'static [u8],
}

impl Reader {
    #[inline(always)]
    pub const fn new(data: &'static [u8]) -> Self {
        Reader { rest: data }
    }

    #[inline(always)]
    fn take(&mut self, size: usize) -> Outcome<&'static [u8]> {
        if size > self.rest.len() {
            return Err(Error::InstructionDidNotDeserialize.into());
        }
        let (taken, rest) = self.rest.split_at(size);
        self.rest = rest;
        Ok(taken)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Outcome<&'static [u8; N]> {
        let taken = self.take(N)?;
        // SAFETY: `take` gave exactly N bytes, and bytes have no alignment.
        Ok(unsafe { &*taken.as_ptr().cast() })
    }

    /// Fails when bytes are left.
    #[inline(always)]
    pub fn finish(self) -> Outcome {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Error::InstructionDidNotDeserialize.into())
        }
    }
}

/// A type that can be an argument.
pub trait Argument: IdlName + Sized {
    fn read(reader: &mut Reader) -> Outcome<Self>;
}

impl Argument for u8 {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        Ok(reader.array::<1>()?[0])
    }
}

impl Argument for u16 {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        Ok(u16::from_le_bytes(*reader.array()?))
    }
}

impl Argument for u64 {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        Ok(u64::from_le_bytes(*reader.array()?))
    }
}

impl Argument for bool {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        match u8::read(reader)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::InstructionDidNotDeserialize.into()),
        }
    }
}

impl Argument for [u8; 16] {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        Ok(*reader.array()?)
    }
}

impl Argument for &'static Address {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        let bytes = reader.array::<32>()?;
        // SAFETY: an address is a transparent wrapper of 32 bytes.
        Ok(unsafe { &*core::ptr::from_ref(bytes).cast() })
    }
}

impl Argument for &'static [QueryCharge] {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        let count = u32::from_le_bytes(*reader.array()?) as usize;
        // No overflow: the count has 32 bits.
        let bytes = reader.take(count << QUERY_CHARGE_BITS)?;
        // SAFETY: `take` gave room for `count` of them, and a charge is packed, of integers and bytes.
        Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), count) })
    }
}

/// A charge has 2^5 bytes: the target has no checked multiplication.
const QUERY_CHARGE_BITS: u32 = 5;
const _: () = assert!(core::mem::size_of::<QueryCharge>() == 1 << QUERY_CHARGE_BITS);

impl Argument for RentalModel {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        let tag = u8::read(reader)?;
        RentalModel::from_tag(tag).ok_or_else(|| Error::InstructionDidNotDeserialize.into())
    }
}

impl Argument for &'static str {
    #[inline(always)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        let length = u32::from_le_bytes(*reader.array()?) as usize;
        let bytes = reader.take(length)?;
        core::str::from_utf8(bytes).map_err(|_| Error::InstructionDidNotDeserialize.into())
    }
}

impl<T: Argument> Argument for Option<T> {
    // Not inlined: updates read many of these, and their size matters more than their speed.
    #[inline(never)]
    fn read(reader: &mut Reader) -> Outcome<Self> {
        if bool::read(reader)? {
            Ok(Some(T::read(reader)?))
        } else {
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Argument, QueryCharge, Reader};

    #[test]
    fn reads_options_and_strings_and_nothing_more() {
        let mut reader = Reader::new(&[1, 2, 0, 0, 0, b'h', b'i', 0]);
        assert_eq!(Option::<&'static str>::read(&mut reader), Ok(Some("hi")));
        assert_eq!(Option::<u64>::read(&mut reader), Ok(None));
        assert!(reader.finish().is_ok());
    }

    #[test]
    fn reads_as_many_charges_as_are_said_and_refuses_fewer() {
        static TWO: [u8; 4 + 64] = {
            let mut bytes = [0u8; 4 + 64];
            bytes[0] = 2;
            bytes[4 + 32] = 9;
            bytes
        };
        let charges = <&'static [QueryCharge]>::read(&mut Reader::new(&TWO)).unwrap_or_default();
        assert_eq!(charges.iter().map(|charge| charge.sequence).collect::<Vec<_>>(), [0, 9]);
        assert!(<&'static [QueryCharge]>::read(&mut Reader::new(&TWO[..4 + 63])).is_err());
        assert!(<&'static [QueryCharge]>::read(&mut Reader::new(&[255; 64])).is_err());
    }

    #[test]
    fn refuses_other_tags_cut_data_bad_text_and_trailing_bytes() {
        assert!(Option::<u64>::read(&mut Reader::new(&[2])).is_err());
        assert!(bool::read(&mut Reader::new(&[2])).is_err());
        assert!(u64::read(&mut Reader::new(&[0; 7])).is_err());
        assert!(<&'static str>::read(&mut Reader::new(&[255, 255, 255, 255, 1])).is_err());
        assert!(<&'static str>::read(&mut Reader::new(&[1, 0, 0, 0, 0xff])).is_err());
        assert!(Reader::new(&[0]).finish().is_err());
    }
}
