use pinocchio::Address;

use super::account;
use crate::{error::Outcome, money::add};

account! {
    /// A listing's earnings, at `["escrow", listing]`.
    Escrow {
        /// The listing whose earnings these are.
        listing: Address,
        /// Not withdrawn yet.
        earnings_lamports: u64,
        /// Ever earned.
        total_earned_lamports: u64,
    }
}

impl Escrow {
    /// Books the creator's earnings; the caller moves the lamports.
    #[inline(always)]
    pub fn earn(&mut self, lamports: u64) -> Outcome {
        self.earnings_lamports = add(self.earnings_lamports, lamports)?;
        self.total_earned_lamports = add(self.total_earned_lamports, lamports)?;
        Ok(())
    }
}
