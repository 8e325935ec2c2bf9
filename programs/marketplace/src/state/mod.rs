//! The program's accounts. Each is packed borsh behind a discriminator: a layout version, the canonical bump, and the
//! searchable fields at fixed offsets. Then come 32 bytes kept for later fields (zero until they are written), and last
//! the strings at their maximum length.

mod access_credential;
mod escrow;
mod listing;
mod per_query_balance;
mod protocol;

pub use access_credential::AccessCredential;
pub use escrow::Escrow;
pub use listing::{Listing, MAX_METADATA_URI_LEN, PREVIOUS_PRICE_SECONDS};
pub use per_query_balance::PerQueryBalance;
pub use protocol::Protocol;

use crate::error::{Error, Outcome};

/// The layout version that this program writes and reads.
pub const ACCOUNT_VERSION: u8 = 1;

/// The bytes of each account that the first layout left for later fields. A later field reads as zero in an account
/// that was created before it.
const RESERVED: usize = 32;

/// An account type of this program.
///
/// # Safety
/// The type is packed, has no invalid bit patterns, and begins with discriminator, version and bump.
pub unsafe trait State: Sized + 'static {
    /// Anchor's discriminator, as a little-endian number.
    const DISCRIMINATOR: u64;
    /// The account's size in bytes.
    const SIZE: usize = core::mem::size_of::<Self>();
    /// The refusal of an instruction that needs an account of this type, where none exists.
    const MISSING: Error = Error::AccountNotInitialized;

    /// The bump stored at creation.
    fn bump(&self) -> u8;

    /// Writes discriminator, version and bump into a new account.
    fn begin(&mut self, bump: u8);

    /// The layout version.
    fn version(&self) -> u8;

    /// Refuses an instruction that would create an account that exists.
    fn refuse_existing(&self) -> Outcome {
        Err(Error::AccountDiscriminatorAlreadySet.into())
    }

    /// Whether an existing account may be used at all.
    #[inline(always)]
    fn check_usable(&self) -> Outcome {
        Ok(())
    }
}

/// Declares an account type: its layout, its place in [`State`] and its part of the IDL.
macro_rules! account {
    (
        $(#[doc = $doc:expr])+
        $name:ident {
            $($(#[doc = $fdoc:expr])* $field:ident: $type:ty,)+
        }
        $(later { $($(#[doc = $ldoc:expr])+ $later:ident: $later_type:ty,)+ })?
        $(strings($strings:expr) { $($(#[doc = $sdoc:expr])+ $string:ident,)+ })?
        $(state { $($item:tt)* })?
    ) => {
        $(#[doc = $doc])+
        #[repr(C, packed)]
        pub struct $name {
            discriminator: u64,
            version: u8,
            bump: u8,
            $($(#[doc = $fdoc])* pub $field: $type,)+
            $($($(#[doc = $ldoc])+ pub $later: $later_type,)+)?
            reserved: [u8; $crate::state::RESERVED $($(- core::mem::size_of::<$later_type>())+)?],
            $(strings: [u8; $strings],)?
        }

        // SAFETY: packed, made of integers, byte arrays and transparent wrappers of them, head first.
        unsafe impl $crate::state::State for $name {
            const DISCRIMINATOR: u64 = $crate::discriminator::discriminator("account:", stringify!($name));

            #[inline(always)]
            fn bump(&self) -> u8 {
                self.bump
            }

            #[inline(always)]
            fn version(&self) -> u8 {
                self.version
            }

            #[inline(always)]
            fn begin(&mut self, bump: u8) {
                self.discriminator = Self::DISCRIMINATOR;
                self.version = $crate::state::ACCOUNT_VERSION;
                self.bump = bump;
            }

            $($($item)*)?
        }

        #[cfg(feature = "idl")]
        impl $name {
            pub fn describe() -> $crate::idl::StructDescription {
                use $crate::{idl::{Field, StructDescription}, layout::IdlName, state::State};
                StructDescription {
                    name: stringify!($name),
                    docs: &[$($doc),+],
                    discriminator: Self::DISCRIMINATOR,
                    fields: vec![
                        Field { name: "version", docs: &[], type_name: u8::idl_name() },
                        Field { name: "bump", docs: &[], type_name: u8::idl_name() },
                        $(Field {
                            name: stringify!($field),
                            docs: &[$($fdoc),*],
                            type_name: <$type>::idl_name(),
                        },)+
                        $($(Field {
                            name: stringify!($later),
                            docs: &[$($ldoc),+],
                            type_name: <$later_type>::idl_name(),
                        },)+)?
                        Field {
                            name: "reserved",
                            docs: &[],
                            type_name: <[u8; $crate::state::RESERVED
                                $($(- core::mem::size_of::<$later_type>())+)?]>::idl_name(),
                        },
                        $($(Field {
                            name: stringify!($string),
                            docs: &[$($sdoc),+],
                            type_name: <&str>::idl_name(),
                        },)+)?
                    ],
                }
            }
        }
    };
}
pub(crate) use account;
