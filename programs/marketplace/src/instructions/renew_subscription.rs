use super::sale::{check_agreed, expiry, take_payment, Payment};
use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Payee, Payer, SystemProgram},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, SubscriptionRenewed},
    layout::RentalModel,
    money, runtime,
    state::{AccessCredential, Escrow, Listing, Protocol},
};

instruction! {
    /// Extends a subscription, expired or not, to now and a window more.
    renew_subscription emits SubscriptionRenewed;
    args {
        /// 2592000, 7776000 or 31536000.
        duration_seconds: u64,
        /// The most that the buyer agrees to pay for the whole window.
        max_price_lamports: u64,
    }
    accounts {
        /// Pays the price.
        buyer: Payer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing, which remembers until when it cannot be closed.
        listing: ExistingMut<Listing>,
        /// Its escrow.
        escrow: ExistingMut<Escrow> => pda(text "escrow", account listing),
        /// The buyer's credential.
        access_credential: ExistingMut<AccessCredential>
            => pda(text "access_credential", account buyer, account listing),
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
    accounts.access_credential.check_model(RentalModel::SUBSCRIPTION)?;
    let price = money::window_cost(accounts.listing.price_lamports, args.duration_seconds)?;
    let expires_at = expiry(runtime::now()?, args.duration_seconds)?;
    // A renewal never shortens the access: a year just bought cannot be turned into a month.
    if expires_at <= accounts.access_credential.expires_at {
        return Err(Error::InvalidDuration.into());
    }
    check_agreed(price, args.max_price_lamports)?;

    accounts.access_credential.expires_at = expires_at;
    accounts.listing.note_subscription(expires_at);
    let fee = take_payment(&mut Payment {
        buyer: &accounts.buyer,
        escrow: &mut accounts.escrow,
        treasury: &accounts.treasury,
        fee_bps: accounts.protocol.fee_bps,
        price,
    })?;
    SubscriptionRenewed::new(*accounts.listing.address(), *accounts.buyer.address(), price, fee, expires_at)
        .emit();
    Ok(())
}
