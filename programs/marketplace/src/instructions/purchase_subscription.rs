use super::sale::{check_agreed, expiry, grant, take_payment, Grant, Payment};
use crate::{
    accounts::{AccountKind, Existing, ExistingMut, New, Payee, Payer, SystemProgram},
    description::{instruction, Input},
    error::Outcome,
    events::{Event, SubscriptionPurchased},
    layout::RentalModel,
    money, runtime,
    state::{AccessCredential, Escrow, Listing, Protocol},
};

instruction! {
    /// Buys a subscription from now on. A wallet that had one renews it instead.
    purchase_subscription emits SubscriptionPurchased;
    args {
        /// 2592000, 7776000 or 31536000.
        duration_seconds: u64,
        /// The most that the buyer agrees to pay for the whole window.
        max_price_lamports: u64,
    }
    accounts {
        /// Pays the price and the credential's rent.
        buyer: Payer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing, which remembers until when it cannot be closed.
        listing: ExistingMut<Listing>,
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
    accounts.listing.check_model(RentalModel::SUBSCRIPTION)?;
    let price = money::window_cost(accounts.listing.price_lamports, args.duration_seconds)?;
    check_agreed(price, args.max_price_lamports)?;

    let now = runtime::now()?;
    let expires_at = expiry(now, args.duration_seconds)?;
    accounts.listing.note_subscription(expires_at);
    grant(
        &mut accounts.access_credential,
        &Grant {
            payer: &accounts.buyer,
            buyer: accounts.buyer.address(),
            listing: accounts.listing.address(),
            rental_model: RentalModel::SUBSCRIPTION,
            now,
            expires_at,
        },
    )?;
    let fee = take_payment(&mut Payment {
        buyer: &accounts.buyer,
        escrow: &mut accounts.escrow,
        treasury: &accounts.treasury,
        fee_bps: accounts.protocol.fee_bps,
        price,
    })?;
    SubscriptionPurchased::new(*accounts.listing.address(), *accounts.buyer.address(), price, fee, expires_at)
        .emit();
    Ok(())
}
