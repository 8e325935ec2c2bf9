use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Payer},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{EarningsWithdrawn, Event},
    money,
    state::{Escrow, Listing},
};

instruction! {
    /// Pays earnings to the creator. Neither a paused protocol nor a closed listing keeps them.
    withdraw_earnings emits EarningsWithdrawn;
    args {
        /// How much; all of it when not given.
        amount_lamports: Option<u64>,
    }
    accounts {
        /// The listing's creator, who is paid.
        creator: Payer,
        /// The listing.
        listing: Existing<Listing>,
        /// Its escrow.
        escrow: ExistingMut<Escrow> => pda(text "escrow", account listing),
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.listing.check_creator(accounts.creator.address())?;
    let available = accounts.escrow.earnings_lamports;
    let amount = args.amount_lamports.unwrap_or(available);
    if amount > available {
        return Err(Error::WithdrawalExceedsBalance.into());
    }
    if amount == 0 {
        return Err(Error::NothingToWithdraw.into());
    }
    let remaining = available - amount;
    accounts.escrow.earnings_lamports = remaining;
    money::move_lamports(accounts.escrow.view(), accounts.creator.view(), amount)?;
    EarningsWithdrawn::new(*accounts.listing.address(), *accounts.creator.address(), amount, remaining).emit();
    Ok(())
}
