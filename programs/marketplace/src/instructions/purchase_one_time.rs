use super::sale::{check_agreed, grant, take_payment, Grant, Payment};
use crate::{
    accounts::{AccountKind, Existing, ExistingMut, New, Payee, Payer, SystemProgram},
    description::{instruction, Input},
    error::Outcome,
    events::{Event, OneTimePurchased},
    layout::RentalModel,
    runtime,
    state::{AccessCredential, Escrow, Listing, Protocol},
};

instruction! {
    /// Buys a permanent credential for the listing's price.
    purchase_one_time emits OneTimePurchased;
    args {
        /// The most that the buyer agrees to pay.
        max_price_lamports: u64,
    }
    accounts {
        /// Pays the price and the credential's rent.
        buyer: Payer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// Its escrow.
        escrow: ExistingMut<Escrow> => pda(text "escrow", account listing),
        /// The credential to create.
        access_credential: New<AccessCredential> => pda(text "access_credential", account buyer, account listing),
        /// The protocol's treasury.
        treasury: Payee => named_by(protocol),
        /// The System program.
        system_program: SystemProgram,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_running()?;
    accounts.listing.check_active()?;
    accounts.listing.check_model(RentalModel::ONE_TIME)?;
    let price = accounts.listing.price_lamports;
    check_agreed(price, args.max_price_lamports)?;

    grant(
        &mut accounts.access_credential,
        &Grant {
            payer: &accounts.buyer,
            buyer: accounts.buyer.address(),
            listing: accounts.listing.address(),
            rental_model: RentalModel::ONE_TIME,
            now: runtime::now()?,
            expires_at: 0,
        },
    )?;
    let fee = take_payment(&mut Payment {
        buyer: &accounts.buyer,
        escrow: &mut accounts.escrow,
        treasury: &accounts.treasury,
        fee_bps: accounts.protocol.fee_bps,
        price,
    })?;
    OneTimePurchased::new(*accounts.listing.address(), *accounts.buyer.address(), price, fee).emit();
    Ok(())
}
