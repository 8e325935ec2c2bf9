//! One description per instruction: from it come the parsing of arguments and accounts, and the IDL.
//!
//! ```text
//! instruction! {
//!     /// Closes a listing.
//!     close_listing emits ListingClosed;
//!     args {}
//!     accounts {
//!         /// Who it is.
//!         creator: Signer,
//!         /// Where it is.
//!         escrow: ExistingMut<Escrow> => pda(text "escrow", account listing),
//!         /// Whose address another account names.
//!         treasury: Payee => named_by(protocol),
//!     }
//! }
//! ```
//!
//! An address is checked in one of three ways. All of them are sound; the latter two are for every charge:
//! - `pda`: derived anew, from the seeds and the bump that the account stores;
//! - `inline_pda`: the same, without the call: faster, larger;
//! - `repeats`: the account's fields of the seeds' names hold the seeds. An account with our discriminator was
//!   created by this program, at the canonical address of its fields.

use pinocchio::{AccountView, Address};

/// The instruction as the runtime passes it to the program.
pub struct Input<'a> {
    pub program_id: &'static Address,
    pub accounts: &'a [AccountView],
    /// The instruction's data, from the arguments on once the instruction is known.
    pub data: &'static [u8],
}

macro_rules! seed_bytes {
    ($args:ident, text $text:literal) => {
        $text.as_bytes()
    };
    ($args:ident, account $account:ident) => {
        $account.address().as_ref()
    };
    ($args:ident, arg $arg:ident) => {
        AsRef::<[u8]>::as_ref($args.$arg)
    };
}

macro_rules! repeats_seed {
    ($args:ident, $state:ident, text $text:literal) => {
        true
    };
    ($args:ident, $state:ident, account $account:ident) => {
        $crate::layout::same(&$state.$account, $account.address())
    };
    ($args:ident, $state:ident, arg $arg:ident) => {
        $crate::layout::same(&$state.$arg, $args.$arg)
    };
}

macro_rules! account_rule {
    ($input:ident, $args:ident, $account:ident, pda($($kind:ident $seed:tt),+)) => {
        $account.check_seeds(
            &[$($crate::description::seed_bytes!($args, $kind $seed)),+],
            $input.program_id,
        )?;
    };
    ($input:ident, $args:ident, $account:ident, inline_pda($($kind:ident $seed:tt),+)) => {
        $account.check_seeds_inline(
            &[$($crate::description::seed_bytes!($args, $kind $seed)),+],
            $input.program_id,
        )?;
    };
    ($input:ident, $args:ident, $account:ident, repeats($($kind:ident $seed:tt),+)) => {
        if let Some(state) = $account.state() {
            if !($($crate::description::repeats_seed!($args, state, $kind $seed))&&+) {
                return Err($crate::error::Error::ConstraintSeeds.into());
            }
        }
    };
    ($input:ident, $args:ident, $account:ident, named_by($owner:ident)) => {
        if !$crate::layout::same(&$owner.$account, $account.address()) {
            return Err($crate::error::Error::ConstraintHasOne.into());
        }
    };
}

#[cfg(feature = "idl")]
macro_rules! describe_seed {
    (text $text:literal) => {
        $crate::idl::Seed::Text($text)
    };
    (account $account:ident) => {
        $crate::idl::Seed::Account(stringify!($account))
    };
    (arg $arg:ident) => {
        $crate::idl::Seed::Arg(stringify!($arg))
    };
}

#[cfg(feature = "idl")]
macro_rules! describe_rule {
    ($account:ident, named_by($owner:ident)) => {
        $account.named_by = Some(stringify!($owner));
    };
    ($account:ident, $rule:ident($($kind:ident $seed:tt),+)) => {
        $account.seeds = vec![$($crate::description::describe_seed!($kind $seed)),+];
    };
}

macro_rules! instruction {
    (
        $(#[doc = $doc:expr])+
        $name:ident $(emits $event:ident)? $(returns $returns:ident)?;
        args { $($(#[doc = $arg_doc:expr])+ $arg:ident: $arg_type:ty,)* }
        accounts {
            $($(#[doc = $account_doc:expr])+ $account:ident: $kind:ty $(=> $rule:ident($($rule_body:tt)+))?,)+
        }
    ) => {
        /// The instruction's arguments.
        pub struct Args {
            $($(#[doc = $arg_doc])+ pub $arg: $arg_type,)*
        }

        /// The instruction's accounts, structurally checked.
        pub struct Accounts {
            $($(#[doc = $account_doc])+ pub $account: $kind,)+
        }

        /// The first eight bytes of the instruction's data, as a little-endian number.
        pub const DISCRIMINATOR: u64 = $crate::discriminator::discriminator("global:", stringify!($name));

        /// How many accounts are named; an instruction may take further ones behind them.
        pub const ACCOUNT_COUNT: usize = [$(stringify!($account)),+].len();

        #[allow(unused_mut, unused_assignments)]
        #[inline(always)]
        fn parse(input: &$crate::description::Input) -> $crate::error::Outcome<(Args, Accounts)> {
            #[allow(unused_imports)]
            use $crate::accounts::{AccountKind, DerivedAccount};
            let mut reader = $crate::reader::Reader::new(input.data);
            let args = Args { $($arg: $crate::reader::Argument::read(&mut reader)?,)* };
            reader.finish()?;
            if input.accounts.len() < ACCOUNT_COUNT {
                return Err($crate::error::Error::AccountNotEnoughKeys.into());
            }
            let mut next = 0usize;
            $(
                let mut $account = <$kind>::parse(input.accounts[next], input.program_id)?;
                next += 1;
                $($crate::description::account_rule!(input, args, $account, $rule($($rule_body)+));)?
                $account.check_usable()?;
            )+
            Ok((args, Accounts { $($account,)+ }))
        }

        /// The instruction's part of the IDL.
        #[cfg(feature = "idl")]
        #[allow(unused_mut, unused_imports)]
        pub fn describe() -> $crate::idl::InstructionDescription {
            use $crate::{accounts::AccountKind, idl, layout::IdlName};
            let mut accounts = Vec::new();
            $(
                let mut $account = idl::AccountDescription {
                    name: stringify!($account),
                    docs: &[$($account_doc),+],
                    writable: <$kind>::WRITABLE,
                    signer: <$kind>::SIGNER,
                    optional: <$kind>::OPTIONAL,
                    address: <$kind>::ADDRESS,
                    seeds: Vec::new(),
                    named_by: None,
                };
                $($crate::description::describe_rule!($account, $rule($($rule_body)+));)?
                accounts.push($account);
            )+
            idl::InstructionDescription {
                name: stringify!($name),
                docs: &[$($doc),+],
                discriminator: DISCRIMINATOR,
                args: vec![$(idl::Field {
                    name: stringify!($arg),
                    docs: &[$($arg_doc),+],
                    type_name: <$arg_type>::idl_name(),
                },)*],
                accounts,
                returns: [$(<$returns>::idl_name(),)?].into_iter().next(),
                event: [$($crate::events::$event::describe(),)?].into_iter().next(),
            }
        }
    };
}

pub(crate) use {account_rule, instruction, repeats_seed, seed_bytes};
#[cfg(feature = "idl")]
pub(crate) use {describe_rule, describe_seed};
