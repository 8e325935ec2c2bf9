use crate::{
    accounts::{AccountKind, Existing, ExistingMut, Signer, Wallet},
    description::{instruction, Input},
    error::{Error, Outcome},
    events::{AccessRevoked, Event},
    layout::{Flag, RentalModel},
    state::{AccessCredential, Listing, Protocol},
};

instruction! {
    /// Revokes a One-Time or Subscription credential for ever. The protocol's admin alone may: no creator revokes
    /// a buyer who just paid.
    revoke_access emits AccessRevoked;
    args {}
    accounts {
        /// The protocol's admin.
        admin: Signer,
        /// The protocol.
        protocol: Existing<Protocol> => pda(text "protocol"),
        /// The listing.
        listing: Existing<Listing>,
        /// Whose credential it is.
        buyer: Wallet,
        /// The credential, which stays as a tombstone.
        access_credential: ExistingMut<AccessCredential>
            => pda(text "access_credential", account buyer, account listing),
    }
}

pub fn process(input: &Input) -> Outcome {
    let (_, mut accounts) = parse(input)?;
    accounts.protocol.check_admin(accounts.admin.address())?;
    // A Per-Task credential is revoked together with its balance, so that no money is trapped.
    if !matches!(accounts.access_credential.rental_model, RentalModel::ONE_TIME | RentalModel::SUBSCRIPTION) {
        return Err(Error::InvalidAccessType.into());
    }
    accounts.access_credential.valid = Flag::new(false);
    AccessRevoked::new(*accounts.listing.address(), *accounts.buyer.address()).emit();
    Ok(())
}
