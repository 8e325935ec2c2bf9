use pinocchio::Address;

use super::account;
use crate::{
    error::{Error, Outcome},
    layout::{Flag, RentalModel},
    runtime,
};

account! {
    /// A renter's credential, at `["access_credential", buyer, listing]`. A revoked one stays as a tombstone.
    AccessCredential {
        /// Whose it is.
        buyer: Address,
        /// What it gives access to.
        listing: Address,
        /// The listing's rental model.
        rental_model: RentalModel,
        /// False once revoked; expiry and an empty balance do not change it.
        valid: Flag,
        /// When it was bought, Unix seconds.
        purchased_at: i64,
        /// When a subscription ends, Unix seconds; 0 for the other models.
        expires_at: i64,
    }
    state {
        const MISSING: Error = Error::CredentialNotFound;

        fn refuse_existing(&self) -> Outcome {
            self.check_usable()?;
            if self.is_expired(runtime::now()?) {
                return Err(Error::CredentialExpired.into());
            }
            Err(Error::InvalidAccessType.into())
        }

        #[inline(always)]
        fn check_usable(&self) -> Outcome {
            if self.valid.is_set() {
                Ok(())
            } else {
                Err(Error::CredentialRevoked.into())
            }
        }
    }
}

impl AccessCredential {
    /// True for a subscription whose end is not in the future.
    #[inline(always)]
    pub fn is_expired(&self, now: i64) -> bool {
        self.rental_model == RentalModel::SUBSCRIPTION && self.expires_at <= now
    }

    /// Refuses a credential of another rental model.
    #[inline(always)]
    pub fn check_model(&self, model: RentalModel) -> Outcome {
        if self.rental_model == model {
            Ok(())
        } else {
            Err(Error::InvalidAccessType.into())
        }
    }
}
