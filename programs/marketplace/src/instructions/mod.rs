//! A file per instruction: its description, and below it the rules.

pub mod charge;
pub mod close_listing;
pub mod consume_queries;
pub mod consume_query;
pub mod create_listing;
pub mod fund_balance;
pub mod initialize_protocol;
pub mod moderate_listing;
pub mod purchase_one_time;
pub mod purchase_per_query;
pub mod purchase_subscription;
pub mod renew_subscription;
pub mod revoke_access;
pub mod revoke_per_query_access;
pub mod topup_balance;
pub mod update_listing;
pub mod update_protocol;
pub mod verify_access;
pub mod withdraw_earnings;

mod sale;
