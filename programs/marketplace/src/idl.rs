//! The program's description as Anchor's IDL, spec 0.1.0. Host only.

use crate::{
    charge_window,
    error::Error,
    instructions as ix,
    layout::{ListingStatus, RentalModel, MAX_LISTING_ID_LEN},
    money, pause_history,
    state::{self, State},
};

/// A named value.
pub struct Field {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    /// The type's name in the IDL, a fragment of JSON.
    pub type_name: String,
}

/// A seed of an address.
pub enum Seed {
    Text(&'static str),
    Account(&'static str),
    Arg(&'static str),
}

/// An account of an instruction.
pub struct AccountDescription {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub writable: bool,
    pub signer: bool,
    pub optional: bool,
    pub address: Option<&'static str>,
    pub seeds: Vec<Seed>,
    /// The account that holds this one's address in a field of the same name.
    pub named_by: Option<&'static str>,
}

/// An instruction.
pub struct InstructionDescription {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub discriminator: u64,
    pub args: Vec<Field>,
    pub accounts: Vec<AccountDescription>,
    pub returns: Option<String>,
    pub event: Option<StructDescription>,
}

/// An account type or an event.
pub struct StructDescription {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub discriminator: u64,
    pub fields: Vec<Field>,
}

/// An enum without payloads.
pub struct EnumDescription {
    pub name: &'static str,
    pub docs: &'static [&'static str],
    pub variants: &'static [&'static str],
}

fn text(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

fn object(entries: Vec<(&str, Option<String>)>) -> String {
    let entries = entries.into_iter().filter_map(|(key, value)| Some(format!("{}:{}", text(key), value?)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

fn docs(lines: &[&str]) -> Option<String> {
    (!lines.is_empty()).then(|| list(lines.iter().map(|line| text(line.trim()))))
}

fn bytes(value: &[u8]) -> String {
    list(value.iter().map(u8::to_string))
}

fn flag(value: bool) -> Option<String> {
    value.then(|| "true".into())
}

fn field(field: &Field) -> String {
    object(vec![
        ("name", Some(text(field.name))),
        ("docs", docs(field.docs)),
        ("type", Some(field.type_name.clone())),
    ])
}

fn seed(seed: &Seed) -> String {
    let (kind, key, value) = match seed {
        Seed::Text(value) => ("const", "value", bytes(value.as_bytes())),
        Seed::Account(path) => ("account", "path", text(path)),
        Seed::Arg(path) => ("arg", "path", text(path)),
    };
    object(vec![("kind", Some(text(kind))), (key, Some(value))])
}

fn account(account: &AccountDescription) -> String {
    let seeds = (!account.seeds.is_empty()).then(|| list(account.seeds.iter().map(seed)));
    object(vec![
        ("name", Some(text(account.name))),
        ("docs", docs(account.docs)),
        ("writable", flag(account.writable)),
        ("signer", flag(account.signer)),
        ("optional", flag(account.optional)),
        ("address", account.address.map(text)),
        ("pda", seeds.map(|seeds| object(vec![("seeds", Some(seeds))]))),
        ("relations", account.named_by.map(|owner| list([text(owner)]))),
    ])
}

fn instruction(instruction: &InstructionDescription) -> String {
    object(vec![
        ("name", Some(text(instruction.name))),
        ("docs", docs(instruction.docs)),
        ("discriminator", Some(bytes(&instruction.discriminator.to_le_bytes()))),
        ("accounts", Some(list(instruction.accounts.iter().map(account)))),
        ("args", Some(list(instruction.args.iter().map(field)))),
        ("returns", instruction.returns.clone()),
    ])
}

fn discriminated(described: &StructDescription) -> String {
    object(vec![
        ("name", Some(text(described.name))),
        ("discriminator", Some(bytes(&described.discriminator.to_le_bytes()))),
    ])
}

fn struct_type(described: &StructDescription) -> String {
    let body =
        object(vec![("kind", Some(text("struct"))), ("fields", Some(list(described.fields.iter().map(field))))]);
    object(vec![("name", Some(text(described.name))), ("docs", docs(described.docs)), ("type", Some(body))])
}

fn enum_type(described: &EnumDescription) -> String {
    let variants = list(described.variants.iter().map(|name| object(vec![("name", Some(text(name)))])));
    let body = object(vec![("kind", Some(text("enum"))), ("variants", Some(variants))]);
    object(vec![("name", Some(text(described.name))), ("docs", docs(described.docs)), ("type", Some(body))])
}

fn constant((name, value): (&str, u64)) -> String {
    object(vec![
        ("name", Some(text(name))),
        ("type", Some(text("u64"))),
        ("value", Some(text(&value.to_string()))),
    ])
}

/// The whole IDL as JSON on one line. `address` is the program id that clients use unless told otherwise.
pub fn render(address: &str) -> String {
    let instructions = [
        ix::initialize_protocol::describe(),
        ix::create_listing::describe(),
        ix::update_listing::describe(),
        ix::close_listing::describe(),
        ix::moderate_listing::describe(),
        ix::purchase_one_time::describe(),
        ix::purchase_subscription::describe(),
        ix::purchase_per_query::describe(),
        ix::renew_subscription::describe(),
        ix::topup_balance::describe(),
        ix::fund_balance::describe(),
        ix::consume_query::describe(),
        ix::consume_queries::describe(),
        ix::revoke_access::describe(),
        ix::revoke_per_query_access::describe(),
        ix::withdraw_earnings::describe(),
        ix::update_protocol::describe(),
        ix::verify_access::describe(),
    ];
    let accounts = [
        state::Protocol::describe(),
        state::Listing::describe(),
        state::Escrow::describe(),
        state::AccessCredential::describe(),
        state::PerQueryBalance::describe(),
    ];
    let enums = [RentalModel::describe(), ListingStatus::describe()];
    let mut events: Vec<_> = instructions.iter().filter_map(|instruction| instruction.event.as_ref()).collect();
    // Two instructions may log one event. The second place of each is left out.
    let mut names = std::collections::BTreeSet::new();
    events.retain(|event| names.insert(event.name));
    let constants = [
        ("PROTOCOL_SIZE", state::Protocol::SIZE as u64),
        ("LISTING_SIZE", state::Listing::SIZE as u64),
        ("ESCROW_SIZE", state::Escrow::SIZE as u64),
        ("ACCESS_CREDENTIAL_SIZE", state::AccessCredential::SIZE as u64),
        ("PER_QUERY_BALANCE_SIZE", state::PerQueryBalance::SIZE as u64),
        ("MAX_LISTING_ID_BYTES", MAX_LISTING_ID_LEN as u64),
        ("MAX_METADATA_URI_BYTES", state::MAX_METADATA_URI_LEN as u64),
        ("MAX_FEE_BPS", money::MAX_FEE_BPS as u64),
        ("MIN_PRICE_LAMPORTS", money::MIN_PRICE),
        ("MAX_PRICE_LAMPORTS", money::MAX_PRICE),
        ("SUBSCRIPTION_PERIOD_SECONDS", money::SUBSCRIPTION_PERIOD),
        ("MAX_SEQUENCE_JUMP", charge_window::MAX_JUMP),
        ("PREVIOUS_PRICE_SECONDS", state::PREVIOUS_PRICE_SECONDS as u64),
        ("PAUSE_WINDOW_SECONDS", pause_history::PAUSE_WINDOW_SECONDS),
        ("PAUSE_UNIT_SECONDS", pause_history::PAUSE_UNIT_SECONDS),
        ("RECLAIM_AFTER_PAUSED_SECONDS", ix::revoke_per_query_access::RECLAIM_AFTER_PAUSED_SECONDS),
    ];
    // Framework codes are Anchor's own: its clients know them, and an IDL names only the program's.
    let errors = Error::TABLE.iter().filter(|(code, _, _)| *code >= 6_000).map(|(code, name, message)| {
        object(vec![("code", Some(code.to_string())), ("name", Some(text(name))), ("msg", Some(text(message)))])
    });
    let parts = [ix::charge::QueryCharge::describe()];
    let structs = accounts.iter().chain(events.iter().copied()).chain(&parts);
    let types = structs.map(struct_type).chain(enums.iter().map(enum_type));
    object(vec![
        ("address", Some(text(address))),
        (
            "metadata",
            Some(object(vec![
                ("name", Some(text(env!("CARGO_PKG_NAME")))),
                ("version", Some(text(env!("CARGO_PKG_VERSION")))),
                ("spec", Some(text("0.1.0"))),
                ("description", Some(text(env!("CARGO_PKG_DESCRIPTION")))),
            ])),
        ),
        ("instructions", Some(list(instructions.iter().map(instruction)))),
        ("accounts", Some(list(accounts.iter().map(discriminated)))),
        ("events", Some(list(events.iter().copied().map(discriminated)))),
        ("errors", Some(list(errors))),
        ("types", Some(list(types))),
        ("constants", Some(list(constants.into_iter().map(constant)))),
    ])
}
