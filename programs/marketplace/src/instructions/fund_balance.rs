use super::sale::{check_agreed, grant, open_balance, Grant};
use crate::{
    accounts::{pay, AccountKind, Ensured, Existing, Payer, Signer, SystemProgram, Wallet},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{BalanceToppedUp, Event},
    layout::RentalModel,
    runtime,
    state::{AccessCredential, Listing, PerQueryBalance, Protocol},
};

instruction! {
    /// Adds to the balance of a buyer who paid the payer outside of this program, and opens it where there is none. The
    /// authority vouches for that payment: a stranger can give no wallet a rental. Raises the price cap to the listing's price
    /// at most, and never lowers it.
    fund_balance emits BalanceToppedUp;
    args {
        /// What to add: at least the price, and the listing's minimum where the balance is opened.
        amount_lamports: u64,
        /// The most that the buyer agreed to pay for this run.
        max_price_lamports: u64,
    }
    accounts {
        /// Pays the amount, and the rent of accounts that are created.
        payer: Payer,
        /// The protocol's authority, or its next authority.
        authority: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// Whose balance it is. The rent is theirs when the rental ends.
        buyer: Wallet,
        /// The buyer's credential.
        access_credential: Ensured<AccessCredential>
            => pda(text "access_credential", account buyer, account listing),
        /// The buyer's balance.
        per_query_balance: Ensured<PerQueryBalance>
            => pda(text "per_query_balance", account buyer, account listing),
        /// The System program.
        system_program: SystemProgram,
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_running()?;
    accounts.protocol.check_authority(accounts.authority.address())?;
    accounts.listing.check_active()?;
    accounts.listing.check_model(RentalModel::PER_QUERY)?;
    check_agreed(accounts.listing.price_lamports, args.max_price_lamports)?;

    let (listing, buyer, payer) = (accounts.listing.address(), accounts.buyer.address(), &accounts.payer);
    let (price, deposit) = (accounts.listing.price_lamports, accounts.listing.min_deposit_lamports);
    let credential = accounts.access_credential.missing();
    if args.amount_lamports < if credential.is_some() { deposit } else { price } {
        return Err(Error::DepositTooLow.into());
    }
    let rental_model = RentalModel::PER_QUERY;
    let new = Grant { payer, buyer, listing, rental_model, now: runtime::now()?, expires_at: 0 };
    if let Some(credential) = credential {
        grant(credential, &new)?;
    }
    let account = accounts.per_query_balance.view();
    match accounts.per_query_balance.missing() {
        Some(balance) => open_balance(balance, &new, args.amount_lamports)?,
        None => pay(payer, account, args.amount_lamports)?,
    }
    let balance = accounts.per_query_balance.state_mut()?;
    balance.deposit(args.amount_lamports)?;
    balance.max_price_lamports = balance.max_price_lamports.max(price);
    let event = BalanceToppedUp::new(
        *listing,
        *buyer,
        args.amount_lamports,
        balance.balance_lamports,
        balance.max_price_lamports,
    );
    event.emit();
    Ok(())
}
