import type { Call } from './call.js';
import { encode, fieldsOf, type Fields, type Value, type Values } from './borsh.js';
import { chargesIn, discriminator, type Charge, type InstructionName } from './instruction-table.js';
import { feeOf, windowCost } from './money.js';
import { STATUS, type StateOf } from './state.js';

const RENTAL = '@listing:pubkey @buyer:pubkey';
const PAYMENT = 'price:u64 fee:u64';

/**
 * The event of each instruction: its name and its fields. A field is the source of its value and its type. Sources:
 * - `@name`: the address of an account;
 * - `arg.name`: an argument;
 * - `state.field`: a field of a state after the instruction;
 * - a name from {@link valueOf}.
 */
const EVENTS = {
  initialize_protocol: `ProtocolInitialized protocol.admin:pubkey protocol.authority:pubkey
    protocol.treasury:pubkey protocol.feeBps:u16 protocol.minQueryPrice:u64`,
  update_protocol: `ProtocolUpdated protocol.admin:pubkey protocol.pendingAdmin:pubkey protocol.authority:pubkey
    protocol.nextAuthority:pubkey protocol.treasury:pubkey protocol.feeBps:u16 protocol.minQueryPrice:u64
    protocol.paused:bool`,
  create_listing: `ListingCreated @listing:pubkey listing.creator:pubkey listing.model:u8 listing.price:u64
    listing.minDeposit:u64 listing.id:string`,
  update_listing: `ListingUpdated @listing:pubkey listing.revision:u64 isPaused:bool listing.price:u64
    listing.minDeposit:u64`,
  close_listing: 'ListingClosed @listing:pubkey listing.creator:pubkey',
  moderate_listing: 'ListingModerated @listing:pubkey isSuspended:bool',
  purchase_one_time: `OneTimePurchased ${RENTAL} ${PAYMENT}`,
  purchase_subscription: `SubscriptionPurchased ${RENTAL} ${PAYMENT} access_credential.expiresAt:u64`,
  renew_subscription: `SubscriptionRenewed ${RENTAL} ${PAYMENT} access_credential.expiresAt:u64`,
  purchase_per_query: `PerQueryPurchased ${RENTAL} arg.deposit_lamports:u64 arg.max_price_lamports:u64`,
  topup_balance: `BalanceToppedUp ${RENTAL} arg.amount_lamports:u64 per_query_balance.balance:u64
    arg.max_price_lamports:u64`,
  fund_balance: `BalanceToppedUp ${RENTAL} arg.amount_lamports:u64 per_query_balance.balance:u64
    per_query_balance.maxPrice:u64`,
  consume_query: `QueryConsumed ${RENTAL} run_id:bytes16 sequence:u64 ${PAYMENT} per_query_balance.balance:u64`,
  // Each charge logs its own event, with the balance after it.
  consume_queries: null,
  revoke_access: `AccessRevoked ${RENTAL}`,
  revoke_per_query_access: `PerQueryAccessRevoked ${RENTAL} refund:u64 isEnded:bool`,
  withdraw_earnings: `EarningsWithdrawn @listing:pubkey @creator:pubkey withdrawn:u64 escrow.earnings:u64`,
  verify_access: null,
} as const satisfies Record<InstructionName, string | null>;

const layouts = new Map<string, { tag: Buffer; fields: Fields }>();

function layoutOf(text: string): { tag: Buffer; fields: Fields } {
  let layout = layouts.get(text);
  if (layout === undefined) {
    const [name = '', ...fields] = text.split(/\s+/);
    layout = { tag: discriminator(`event:${name}`), fields: fieldsOf(fields.join(' ')) };
    layouts.set(text, layout);
  }
  return layout;
}

function priceOf({ name, args, listing }: Call): bigint {
  const { duration_seconds: seconds } = args;
  return name === 'purchase_one_time' || typeof seconds !== 'bigint'
    ? listing.price
    : windowCost(listing.price, seconds);
}

function valueOf(call: Call, source: string, charge: Charge | null): Value {
  const before = (account: string): unknown => call.draft.ledger.get(call.id(account)).data;
  switch (source) {
    case 'price':
      return charge?.price_lamports ?? priceOf(call);
    case 'fee':
      return feeOf(charge?.price_lamports ?? priceOf(call), call.protocol.feeBps);
    case 'sequence':
    case 'run_id':
      return charge?.[source];
    case 'isPaused':
      return call.listing.status !== STATUS.active;
    case 'isSuspended':
      return call.listing.status === STATUS.suspended;
    case 'isEnded':
      return !call.credential.valid;
    case 'refund':
      return (before('per_query_balance') as StateOf<'per_query_balance'>).balance;
    case 'withdrawn':
      return (before('escrow') as StateOf<'escrow'>).earnings - call.escrow.earnings;
    default: {
      const [place = '', field = ''] = source.split('.');
      const values = place === 'arg' ? call.args : { ...call.draft.read(call.id(place)).data };
      return (values as Values)[field];
    }
  }
}

function encodeEvent(call: Call, text: string, charge: Charge | null): Buffer {
  const { tag, fields } = layoutOf(text);
  const values = fields.map(([source]): [string, Value] => [
    source,
    source.startsWith('@') ? call.id(source.slice(1)) : valueOf(call, source, charge),
  ]);
  return Buffer.concat([tag, ...encode(fields, Object.fromEntries(values), (id) => call.universe.key(id))]);
}

/** The events of a successful instruction: at most one, or one for each charge. */
export function eventsOf(call: Call): Buffer[] {
  const event = EVENTS[call.name];
  return event === null ? call.logged : [encodeEvent(call, event, chargesIn(call.args)[0] ?? null)];
}

/** Logs the event of a charge. */
export function logCharge(call: Call, charge: Charge): void {
  call.logged.push(encodeEvent(call, EVENTS.consume_query, charge));
}
