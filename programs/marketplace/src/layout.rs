//! Values as they lie in accounts, events and arguments: packed, little-endian borsh.
//!
//! Each type names its IDL type here, so that layout and IDL come from the same declaration.

use pinocchio::Address;

use crate::instructions::charge::QueryCharge;

/// A type that the IDL can name. The name is a fragment of JSON.
pub trait IdlName {
    #[cfg(feature = "idl")]
    fn idl_name() -> String;
}

macro_rules! idl_names {
    ($($type:ty => $name:expr,)+) => {
        $(impl IdlName for $type {
            #[cfg(feature = "idl")]
            fn idl_name() -> String {
                String::from($name)
            }
        })+
    };
}

idl_names! {
    u8 => "\"u8\"",
    u16 => "\"u16\"",
    u32 => "\"u32\"",
    u64 => "\"u64\"",
    i64 => "\"i64\"",
    bool => "\"bool\"",
    Flag => "\"bool\"",
    Address => "\"pubkey\"",
    &Address => "\"pubkey\"",
    &str => "\"string\"",
    ListingIdString => "\"string\"",
    [u8; 2] => "{\"array\":[\"u8\",2]}",
    [u8; 16] => "{\"array\":[\"u8\",16]}",
    [u8; 32] => "{\"array\":[\"u8\",32]}",
    [u64; 4] => "{\"array\":[\"u64\",4]}",
    RentalModel => "{\"defined\":{\"name\":\"RentalModel\"}}",
    ListingStatus => "{\"defined\":{\"name\":\"ListingStatus\"}}",
    &[QueryCharge] => "{\"vec\":{\"defined\":{\"name\":\"QueryCharge\"}}}",
}

impl<T: IdlName> IdlName for Option<T> {
    #[cfg(feature = "idl")]
    fn idl_name() -> String {
        format!("{{\"option\":{}}}", T::idl_name())
    }
}

/// A bool in an account: one byte, and every value of it is safe to read.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flag(u8);

impl Flag {
    #[inline(always)]
    pub const fn new(value: bool) -> Self {
        Flag(value as u8)
    }

    #[inline(always)]
    pub const fn is_set(self) -> bool {
        self.0 != 0
    }
}

macro_rules! byte_enum {
    ($(#[doc = $doc:expr])+ $name:ident { $($(#[doc = $vdoc:expr])+ $variant:ident = $value:literal $shown:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            $($(#[doc = $vdoc])+ pub const $variant: Self = $name($value);)+

            /// The value of a borsh tag, if it exists.
            #[inline(always)]
            pub const fn from_tag(tag: u8) -> Option<Self> {
                match tag {
                    $($value => Some(Self::$variant),)+
                    _ => None,
                }
            }

            #[cfg(feature = "idl")]
            pub fn describe() -> crate::idl::EnumDescription {
                crate::idl::EnumDescription {
                    name: stringify!($name),
                    docs: &[$($doc),+],
                    variants: &[$($shown),+],
                }
            }
        }
    };
}

byte_enum! {
    /// How a listing is rented.
    RentalModel {
        /// One payment, no end.
        ONE_TIME = 0 "OneTime",
        /// One payment for a window of time.
        SUBSCRIPTION = 1 "Subscription",
        /// A prepaid balance, charged per run.
        PER_QUERY = 2 "PerQuery",
    }
}

byte_enum! {
    /// Whether a listing is on offer.
    ListingStatus {
        /// On offer.
        ACTIVE = 0 "Active",
        /// Not on offer; what was bought stays valid.
        PAUSED = 1 "Paused",
        /// Over, for ever.
        CLOSED = 2 "Closed",
        /// Taken off sale by the protocol's admin, who alone lifts that.
        SUSPENDED = 3 "Suspended",
    }
}

/// A listing id inside an event: a borsh string, of which only the used part is logged.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct ListingIdString {
    length: u32,
    bytes: [u8; MAX_LISTING_ID_LEN],
}

/// The longest listing id: a seed has at most 32 bytes.
pub const MAX_LISTING_ID_LEN: usize = 32;

impl ListingIdString {
    /// Cuts at the maximum, which the caller has checked.
    #[inline(always)]
    pub fn new(id: &[u8]) -> Self {
        let mut bytes = [0u8; MAX_LISTING_ID_LEN];
        let mut length = 0u32;
        for (to, from) in bytes.iter_mut().zip(id) {
            *to = *from;
            length += 1;
        }
        ListingIdString { length, bytes }
    }

    /// The bytes of the maximum that are not used.
    #[inline(always)]
    pub const fn unused(&self) -> usize {
        MAX_LISTING_ID_LEN - self.length as usize
    }
}

/// Equality of two addresses as four words: `==` on bytes is a loop on this target.
#[inline(always)]
pub fn same(a: &Address, b: &Address) -> bool {
    pinocchio::address::address_eq(a, b)
}

/// The address that means "none" where an account or argument is optional.
pub const NO_ADDRESS: Address = Address::new_from_array([0; 32]);

/// The System program.
pub const SYSTEM_PROGRAM: Address = NO_ADDRESS;
