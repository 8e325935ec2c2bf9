use super::sale::check_agreed;
use crate::{
    accounts::{pay, AccountKind, Existing, ExistingMut, Payer, SystemProgram},
    description::{instruction, Input},
    error::Outcome,
    events::{BalanceToppedUp, Event},
    state::{AccessCredential, Listing, PerQueryBalance, Protocol},
};

instruction! {
    /// Adds to a prepaid balance and replaces its price cap. Adding nothing accepts a new price.
    topup_balance emits BalanceToppedUp;
    args {
        /// What to add; may be 0.
        amount_lamports: u64,
        /// The most that the buyer agrees to pay for one run from now on.
        max_price_lamports: u64,
    }
    accounts {
        /// Pays the amount.
        buyer: Payer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// The buyer's credential.
        access_credential: Existing<AccessCredential>
            => pda(text "access_credential", account buyer, account listing),
        /// The buyer's balance.
        per_query_balance: ExistingMut<PerQueryBalance>
            => pda(text "per_query_balance", account buyer, account listing),
        /// The System program.
        system_program: SystemProgram,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_running()?;
    accounts.listing.check_active()?;
    check_agreed(accounts.listing.price_lamports, args.max_price_lamports)?;

    let account = accounts.per_query_balance.view();
    let balance = &mut *accounts.per_query_balance;
    balance.deposit(args.amount_lamports)?;
    balance.max_price_lamports = args.max_price_lamports;
    let event = BalanceToppedUp::new(
        *accounts.listing.address(),
        *accounts.buyer.address(),
        args.amount_lamports,
        balance.balance_lamports,
        args.max_price_lamports,
    );
    pay(&accounts.buyer, account, args.amount_lamports)?;
    event.emit();
    Ok(())
}
