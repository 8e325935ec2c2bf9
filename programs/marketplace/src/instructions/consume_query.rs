use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Payee, Signer, Wallet},
    description::{instruction, Input},
    error::Outcome,
    instructions::charge::{QueryCharge, Till},
    state::{AccessCredential, Escrow, Listing, PerQueryBalance, Protocol},
};

instruction! {
    /// Charges one run: the price leaves the balance, the fee goes to the treasury, the rest is earned. At most once
    /// per sequence, whatever is resent, and at the price that the run was admitted at: the listing's present one, or
    /// the previous one within 15 minutes of a change. A paused or suspended listing is still charged (runs in flight), a
    /// closed one is not.
    consume_query emits QueryConsumed;
    args {
        /// Unique per balance.
        sequence: u64,
        /// Names the run, so that a landed charge can be told from another with the same sequence.
        run_id: [u8; 16],
        /// What the run was admitted at, and what is charged.
        price_lamports: u64,
    }
    accounts {
        /// The protocol's authority, or its next authority.
        authority: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => inline_pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// Its escrow.
        escrow: ExistingMut<Escrow> => repeats(text "escrow", account listing),
        /// Whose balance is charged.
        buyer: Wallet,
        /// The buyer's credential.
        access_credential: Existing<AccessCredential>
            => repeats(text "access_credential", account buyer, account listing),
        /// The buyer's balance.
        per_query_balance: ExistingMut<PerQueryBalance>
            => inline_pda(text "per_query_balance", account buyer, account listing),
        /// The protocol's treasury.
        treasury: Payee => named_by(protocol),
    }
}

pub fn process(input: &Input) -> Outcome {
    let (args, mut accounts) = parse(input)?;
    accounts.protocol.check_authority(accounts.authority.address())?;
    accounts.listing.check_open()?;

    let mut till = Till {
        protocol: &accounts.protocol,
        listing: &accounts.listing,
        escrow: &mut accounts.escrow,
        treasury: &accounts.treasury,
    };
    let Args { sequence, run_id, price_lamports } = args;
    till.charge(&mut accounts.per_query_balance, &QueryCharge { sequence, run_id, price_lamports })
}
