//! The program's refusals: its errors, and Anchor's framework codes where Anchor's checks would give
//! them. Each is logged in the one form that Anchor clients decode, and returned as a custom error.

use core::num::NonZeroU64;

use pinocchio::error::ProgramError;

/// The part of a log line that differs between errors.
macro_rules! error_line {
    ($name:ident $code:literal $message:literal) => {
        concat!(stringify!($name), ". Error Number: ", $code, ". Error Message: ", $message, ".")
    };
}

macro_rules! errors {
    ($($(#[doc = $doc:expr])+ $name:ident = $code:literal $message:literal,)+) => {
        /// A refusal.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Error {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Error {
            const COUNT: usize = [$($code),+].len();
            /// The custom error number of each.
            const CODES: [u16; Self::COUNT] = [$($code),+];
            /// The log lines of all, one after the other, without their common beginning.
            const LINES: &'static str = concat!($(error_line!($name $code $message)),+);
            /// The end of each line in `LINES`.
            const ENDS: [u16; Self::COUNT] = ends([$(error_line!($name $code $message).len()),+]);

            /// Every error as (code, name, message).
            #[cfg(feature = "idl")]
            pub const TABLE: &'static [(u32, &'static str, &'static str)] =
                &[$(($code, stringify!($name), $message),)+];
        }
    };
}

errors! {
    /// Data shorter than a discriminator.
    InstructionMissing = 100 "Instruction discriminator not provided",
    /// No instruction has this discriminator.
    InstructionFallbackNotFound = 101 "Fallback functions are not supported",
    /// Arguments that are not exactly the instruction's.
    InstructionDidNotDeserialize = 102 "The program could not deserialize the given instruction",
    /// An account must be passed writable.
    ConstraintMut = 2000 "A mut constraint was violated",
    /// An account is not the one that another names.
    ConstraintHasOne = 2001 "A has one constraint was violated",
    /// The treasury holds less than the rent-exempt minimum.
    ConstraintRentExempt = 2005 "A rent exemption constraint was violated",
    /// An account is not at the address that its seeds give.
    ConstraintSeeds = 2006 "A seeds constraint was violated",
    /// The account to create exists.
    AccountDiscriminatorAlreadySet = 3000 "The account discriminator was already set on this account",
    /// An account of the program, but of another type.
    AccountDiscriminatorMismatch = 3002 "Account discriminator did not match what was expected",
    /// An account of another layout version.
    AccountDidNotDeserialize = 3003 "Failed to deserialize the account",
    /// Fewer accounts than the instruction takes.
    AccountNotEnoughKeys = 3005 "Not enough account keys given to the instruction",
    /// An account of another program.
    AccountOwnedByWrongProgram = 3007 "The given account is owned by a different program than expected",
    /// Not the System program.
    InvalidProgramId = 3008 "Program ID was not as expected",
    /// A signature is missing.
    AccountNotSigner = 3010 "The given account did not sign",
    /// The treasury belongs to a program.
    AccountNotSystemOwned = 3011 "The given account is not owned by the system program",
    /// An account that does not exist.
    AccountNotInitialized = 3012 "The program expected this account to be already initialized",

    /// The listing is paused, suspended or closed.
    ListingNotActive = 6000 "The listing is not active",
    /// The wallet holds no credential for the listing.
    CredentialNotFound = 6001 "No credential exists for this wallet and listing",
    /// The subscription has ended.
    CredentialExpired = 6002 "The credential has expired",
    /// The prepaid balance does not cover the price.
    InsufficientBalance = 6003 "The prepaid balance is too low",
    /// The signer has no right to this.
    Unauthorized = 6004 "The signer is not authorized for this action",
    /// Another rental model, or the credential exists.
    InvalidAccessType = 6005 "The rental model does not allow this action",
    /// The credential was revoked.
    CredentialRevoked = 6006 "The credential was revoked",
    /// More than the escrow holds.
    WithdrawalExceedsBalance = 6007 "The withdrawal exceeds the earnings",
    /// Above 1,000 basis points.
    FeeTooHigh = 6008 "The protocol fee is above its cap",
    /// Below the floor of its rental model.
    PriceTooLow = 6009 "The price is below the minimum",
    /// Longer than 200 bytes.
    MetadataUriTooLong = 6010 "The metadata URI is too long",
    /// Not one of the windows on sale, or one that would end no later.
    InvalidDuration = 6011 "The duration is not valid",
    /// The first deposit, or the listing's minimum for it.
    DepositTooLow = 6012 "The deposit is below the minimum",
    /// Sales are stopped.
    ProtocolPaused = 6013 "The protocol is paused",
    /// A number outside its range.
    ArithmeticOverflow = 6014 "A number is out of range",
    /// Earnings are left.
    EscrowNotEmpty = 6015 "The escrow still holds earnings",
    /// There is nothing to pay out.
    NothingToWithdraw = 6016 "There is nothing to withdraw",

    /// The sequence was charged, or is too old to tell.
    RunAlreadyConsumed = 6100 "This sequence was already consumed",
    /// The price is above what the payer agreed to.
    PriceAboveLimit = 6101 "The price is above the agreed maximum",
    /// The sequence jumps too far ahead.
    SequenceTooFar = 6102 "The sequence is too far ahead",
    /// A subscription still runs.
    ActiveSubscribers = 6103 "A subscription is still running",
    /// The run was admitted at a price that is neither the present one nor, within 15 minutes of a change, the previous.
    PriceChanged = 6104 "The price changed since the run was admitted",
}

/// The beginning of each line, as Anchor clients look for it.
const LINE_START: &str = "AnchorError occurred. Error Code: ";
const MAX_LINE_BYTES: usize = 192;

/// The sums of the lengths up to each.
const fn ends<const N: usize>(lengths: [usize; N]) -> [u16; N] {
    let mut ends = [0; N];
    let mut end = 0;
    let mut index = 0;
    while index < N {
        assert!(LINE_START.len() + lengths[index] <= MAX_LINE_BYTES);
        end += lengths[index];
        assert!(end <= u16::MAX as usize);
        ends[index] = end as u16;
        index += 1;
    }
    ends
}

impl Error {
    /// The custom error number.
    const fn code(self) -> u16 {
        Self::CODES[self as usize]
    }

    /// Writes the log line that Anchor clients decode.
    fn log(self) {
        static ENDS: [u16; Error::COUNT] = Error::ENDS;
        static LINES: &str = Error::LINES;
        let index = self as usize;
        let start = if index == 0 { 0 } else { ENDS[index - 1] as usize };
        let part = LINES.as_bytes().get(start..ENDS[index] as usize).unwrap_or_default();
        let mut line = [0u8; MAX_LINE_BYTES];
        let (head, tail) = line.split_at_mut(LINE_START.len());
        head.copy_from_slice(LINE_START.as_bytes());
        if let Some(tail) = tail.get_mut(..part.len()) {
            tail.copy_from_slice(part);
        }
        crate::runtime::log(line.get(..LINE_START.len() + part.len()).unwrap_or_default());
    }
}

/// A refusal as the runtime takes it: never 0. One register wide, so that passing it on costs next to nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal(NonZeroU64);

impl Refusal {
    /// The custom error number that the entrypoint returns.
    #[inline(always)]
    pub const fn code(self) -> u64 {
        self.0.get()
    }

    /// The same refusal, said of one charge among several: its place, counted from 1, is above the 16 bits of the number.
    /// The runtime's errors, which are larger, are not changed.
    #[cold]
    pub const fn of_charge(self, place: u16) -> Self {
        if self.0.get() > u16::MAX as u64 {
            self
        } else {
            Refusal(self.0.saturating_add((place as u64) << 16))
        }
    }
}

/// The result of every step of the program.
pub type Outcome<T = ()> = Result<T, Refusal>;

impl From<Error> for Refusal {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        error.log();
        // No error has the number 0.
        Refusal(NonZeroU64::new(error.code() as u64).unwrap_or(NonZeroU64::MIN))
    }
}

impl From<ProgramError> for Refusal {
    #[cold]
    #[inline(never)]
    fn from(error: ProgramError) -> Self {
        Refusal(NonZeroU64::new(u64::from(error)).unwrap_or(NonZeroU64::MIN))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Refusal};
    use pinocchio::error::ProgramError;

    #[test]
    fn a_refusal_of_one_charge_has_its_place_above_its_number() {
        assert_eq!(Refusal::from(Error::InsufficientBalance).of_charge(1).code(), 0x1_0000 + 6_003);
        assert_eq!(Refusal::from(Error::PriceChanged).of_charge(29).code(), 29 * 0x1_0000 + 6_104);
        let of_runtime = Refusal::from(ProgramError::UnsupportedSysvar);
        assert_eq!(of_runtime.of_charge(1), of_runtime);
    }
}
