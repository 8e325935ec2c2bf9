use super::sale::{check_agreed, grant, open_balance, Grant};
use crate::{
    accounts::{AccountKind, Existing, New, Payer, SystemProgram},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{Event, PerQueryPurchased},
    layout::RentalModel,
    runtime,
    state::{AccessCredential, Listing, PerQueryBalance, Protocol},
};

instruction! {
    /// Opens a prepaid balance. No fee is taken here: the balance shown is the balance that can be spent.
    purchase_per_query emits PerQueryPurchased;
    args {
        /// What to prepay, at least the listing's minimum.
        deposit_lamports: u64,
        /// The most that the buyer agrees to pay for one run, now and later.
        max_price_lamports: u64,
    }
    accounts {
        /// Pays the deposit and the rent of both accounts.
        buyer: Payer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// The credential to create.
        access_credential: New<AccessCredential> => pda(text "access_credential", account buyer, account listing),
        /// The balance to create.
        per_query_balance: New<PerQueryBalance> => pda(text "per_query_balance", account buyer, account listing),
        /// The System program.
        system_program: SystemProgram,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_running()?;
    accounts.listing.check_active()?;
    accounts.listing.check_model(RentalModel::PER_QUERY)?;
    check_agreed(accounts.listing.price_lamports, args.max_price_lamports)?;
    if args.deposit_lamports < accounts.listing.min_deposit_lamports {
        return Err(Error::DepositTooLow.into());
    }

    let (listing, buyer) = (accounts.listing.address(), accounts.buyer.address());
    let (payer, rental_model, now) = (&accounts.buyer, RentalModel::PER_QUERY, runtime::now()?);
    let new = Grant { payer, buyer, listing, rental_model, now, expires_at: 0 };
    grant(&mut accounts.access_credential, &new)?;
    open_balance(&mut accounts.per_query_balance, &new, args.deposit_lamports)?;
    let balance = accounts.per_query_balance.state_mut()?;
    balance.max_price_lamports = args.max_price_lamports;
    balance.deposit(args.deposit_lamports)?;
    PerQueryPurchased::new(*listing, *buyer, args.deposit_lamports, args.max_price_lamports).emit();
    Ok(())
}
