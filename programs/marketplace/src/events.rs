//! One event per instruction, logged as discriminator and packed borsh, which Anchor's event listeners read.

use pinocchio::Address;

use crate::{
    layout::{Flag, ListingIdString, RentalModel},
    runtime,
};

/// Something that can be logged.
///
/// # Safety
/// The type is packed and made of plain bytes.
pub unsafe trait Event: Sized {
    /// Logs the event.
    #[inline(always)]
    fn emit(&self) {
        self.emit_without(0);
    }

    /// Logs the event without its last `unused` bytes: the rest of a string that is shorter than its maximum.
    #[inline(always)]
    fn emit_without(&self, unused: usize) {
        // SAFETY: the type is packed plain bytes, and `unused` is at most the size of its last field.
        let bytes = unsafe {
            core::slice::from_raw_parts(
                core::ptr::from_ref(self).cast::<u8>(),
                core::mem::size_of::<Self>() - unused,
            )
        };
        runtime::log_data(bytes);
    }
}

macro_rules! events {
    ($($(#[doc = $doc:expr])+ $name:ident { $($(#[doc = $fdoc:expr])* $field:ident: $type:ty,)+ })+) => {
        $(
            $(#[doc = $doc])+
            #[repr(C, packed)]
            pub struct $name {
                discriminator: u64,
                $($(#[doc = $fdoc])* pub $field: $type,)+
            }

            // SAFETY: packed, of integers, byte arrays and transparent wrappers of them.
            unsafe impl Event for $name {}

            impl $name {
                #[inline(always)]
                #[allow(clippy::too_many_arguments)]
                pub fn new($($field: $type,)+) -> Self {
                    const DISCRIMINATOR: u64 = $crate::discriminator::discriminator("event:", stringify!($name));
                    $name { discriminator: DISCRIMINATOR, $($field,)+ }
                }

                #[cfg(feature = "idl")]
                pub fn describe() -> $crate::idl::StructDescription {
                    use $crate::{discriminator::discriminator, idl::Field, layout::IdlName};
                    $crate::idl::StructDescription {
                        name: stringify!($name),
                        docs: &[$($doc),+],
                        discriminator: discriminator("event:", stringify!($name)),
                        fields: vec![$(Field {
                            name: stringify!($field),
                            docs: &[$($fdoc),*],
                            type_name: <$type>::idl_name(),
                        },)+],
                    }
                }
            }
        )+
    };
}

events! {
    /// The protocol was set up.
    ProtocolInitialized {
        admin: Address,
        authority: Address,
        treasury: Address,
        fee_bps: u16,
        min_query_price_lamports: u64,
    }

    /// The protocol as it is after a change.
    ProtocolUpdated {
        admin: Address,
        /// All zeros when no hand-over is open.
        pending_admin: Address,
        authority: Address,
        /// All zeros when there is none.
        next_authority: Address,
        treasury: Address,
        fee_bps: u16,
        min_query_price_lamports: u64,
        paused: Flag,
    }

    /// A listing was created.
    ListingCreated {
        listing: Address,
        creator: Address,
        rental_model: RentalModel,
        price_lamports: u64,
        min_deposit_lamports: u64,
        listing_id: ListingIdString,
    }

    /// A listing as it is after a change.
    ListingUpdated {
        listing: Address,
        revision: u64,
        paused: Flag,
        price_lamports: u64,
        min_deposit_lamports: u64,
    }

    /// A listing was closed for ever.
    ListingClosed {
        listing: Address,
        creator: Address,
    }

    /// A listing was suspended, or its suspension was lifted.
    ListingModerated {
        listing: Address,
        /// Whether it is suspended now.
        suspended: Flag,
    }

    /// A permanent credential was bought.
    OneTimePurchased {
        listing: Address,
        buyer: Address,
        price_lamports: u64,
        /// The part of the price that went to the treasury.
        fee_lamports: u64,
    }

    /// A subscription was bought.
    SubscriptionPurchased {
        listing: Address,
        buyer: Address,
        /// What the whole window cost.
        price_lamports: u64,
        /// The part of it that went to the treasury.
        fee_lamports: u64,
        /// Unix seconds.
        expires_at: i64,
    }

    /// A Per-Task balance was opened.
    PerQueryPurchased {
        listing: Address,
        buyer: Address,
        deposit_lamports: u64,
        max_price_lamports: u64,
    }

    /// A subscription was extended.
    SubscriptionRenewed {
        listing: Address,
        buyer: Address,
        /// What the whole window cost.
        price_lamports: u64,
        /// The part of it that went to the treasury.
        fee_lamports: u64,
        /// Unix seconds.
        expires_at: i64,
    }

    /// A Per-Task balance was topped up, or its price cap replaced.
    BalanceToppedUp {
        listing: Address,
        buyer: Address,
        amount_lamports: u64,
        balance_lamports: u64,
        max_price_lamports: u64,
    }

    /// One run was charged.
    QueryConsumed {
        listing: Address,
        buyer: Address,
        run_id: [u8; 16],
        sequence: u64,
        price_lamports: u64,
        /// The part of the price that went to the treasury.
        fee_lamports: u64,
        /// What can still be spent.
        balance_lamports: u64,
    }

    /// A One-Time or Subscription credential was revoked.
    AccessRevoked {
        listing: Address,
        buyer: Address,
    }

    /// Per-Task access ended, or its balance went back to the buyer.
    PerQueryAccessRevoked {
        listing: Address,
        buyer: Address,
        /// The prepaid balance that was returned; rent is not in it.
        refunded_lamports: u64,
        /// False when the buyer took the balance out and keeps the credential.
        revoked: Flag,
    }

    /// Earnings were paid out.
    EarningsWithdrawn {
        listing: Address,
        creator: Address,
        amount_lamports: u64,
        /// What the escrow still owes the creator.
        remaining_lamports: u64,
    }
}
