//! One charge of a run, as `consume_query` and `consume_queries` make it.

use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Payee},
    error::Outcome,
    events::{Event, QueryConsumed},
    money,
    state::{Escrow, Listing, PerQueryBalance, Protocol},
};

/// One charge among several.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct QueryCharge {
    /// Unique per balance.
    pub sequence: u64,
    /// Names the run.
    pub run_id: [u8; 16],
    /// The price at which the run was admitted: the charged amount.
    pub price_lamports: u64,
}

#[cfg(feature = "idl")]
impl QueryCharge {
    pub fn describe() -> crate::idl::StructDescription {
        use crate::{idl::Field, layout::IdlName};
        crate::idl::StructDescription {
            name: "QueryCharge",
            docs: &["One charge among several."],
            discriminator: 0,
            fields: vec![
                Field { name: "sequence", docs: &["Unique per balance."], type_name: u64::idl_name() },
                Field { name: "run_id", docs: &["Names the run."], type_name: <[u8; 16]>::idl_name() },
                Field {
                    name: "price_lamports",
                    docs: &["What the run was admitted at, and what is charged."],
                    type_name: u64::idl_name(),
                },
            ],
        }
    }
}

/// The accounts that every charge of a listing is checked against, and that receive its price.
pub struct Till<'a> {
    pub protocol: &'a Existing<Protocol>,
    pub listing: &'a Existing<Listing>,
    pub escrow: &'a mut ExistingMut<Escrow>,
    pub treasury: &'a Payee,
}

impl Till<'_> {
    /// Takes the price out of a balance of the listing; the caller has checked whose it is.
    #[inline(always)]
    pub fn charge(&mut self, balance: &mut ExistingMut<PerQueryBalance>, charge: &QueryCharge) -> Outcome {
        let account = balance.view();
        let balance = &mut **balance;
        // The sequence comes first: a resent charge that emptied the balance is told that it landed.
        balance.consume_sequence(charge.sequence)?;
        let price = charge.price_lamports;
        self.listing.check_price(price)?;
        balance.check_covers(price)?;
        balance.balance_lamports = money::subtract(balance.balance_lamports, price)?;
        balance.total_spent_lamports = money::add(balance.total_spent_lamports, price)?;

        let fee = money::fee(price, self.protocol.fee_bps);
        let earned = money::subtract(price, fee)?;
        self.escrow.earn(earned)?;
        money::move_lamports(account, self.escrow.view(), earned)?;
        money::move_lamports(account, self.treasury.view(), fee)?;
        QueryConsumed::new(
            *self.listing.address(),
            balance.buyer,
            charge.run_id,
            charge.sequence,
            price,
            fee,
            balance.balance_lamports,
        )
        .emit();
        Ok(())
    }
}
