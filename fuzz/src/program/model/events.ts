import type { AddressId } from '../world/universe.js';
import type { Call } from './call.js';
import { chargeOf, type Charge } from './charge.js';
import { discriminator, type InstructionName } from './instruction-table.js';
import { feeOf, windowCost } from './money.js';
import { STATUS } from './state.js';

type Field =
  | { address: AddressId }
  | { u64: bigint }
  | { u16: number }
  | { flag: boolean }
  | { byte: number }
  | { text: string }
  | { bytes: Uint8Array };

type Event = [string, ...Field[]];

/** The event of each instruction: its name, and what is in it once the instruction has succeeded. */
const EVENTS: Record<InstructionName, ((call: Call) => Event) | null> = {
  initialize_protocol: (call) => {
    const { admin, authority, treasury, feeBps, minQueryPrice } = call.protocol;
    return [
      'ProtocolInitialized',
      { address: admin },
      { address: authority },
      { address: treasury },
      { u16: feeBps },
      { u64: minQueryPrice },
    ];
  },
  update_protocol: (call) => {
    const { protocol } = call;
    return [
      'ProtocolUpdated',
      { address: protocol.admin },
      { address: protocol.pendingAdmin },
      { address: protocol.authority },
      { address: protocol.nextAuthority },
      { address: protocol.treasury },
      { u16: protocol.feeBps },
      { u64: protocol.minQueryPrice },
      { flag: protocol.paused },
    ];
  },
  create_listing: (call) => {
    const { creator, model, price, minDeposit, id } = call.listing;
    return [
      'ListingCreated',
      { address: call.id('listing') },
      { address: creator },
      { byte: model },
      { u64: price },
      { u64: minDeposit },
      { text: id },
    ];
  },
  update_listing: (call) => {
    const { revision, status, price, minDeposit } = call.listing;
    return [
      'ListingUpdated',
      { address: call.id('listing') },
      { u64: revision },
      { flag: status === STATUS.paused },
      { u64: price },
      { u64: minDeposit },
    ];
  },
  close_listing: (call) => [
    'ListingClosed',
    { address: call.id('listing') },
    { address: call.listing.creator },
  ],
  purchase_one_time: (call) => ['OneTimePurchased', ...rental(call), ...payment(call, call.listing.price)],
  purchase_subscription: (call) => ['SubscriptionPurchased', ...rental(call), ...window(call)],
  renew_subscription: (call) => ['SubscriptionRenewed', ...rental(call), ...window(call)],
  purchase_per_query: (call) => [
    'PerQueryPurchased',
    ...rental(call),
    { u64: call.amount('deposit_lamports') },
    { u64: call.amount('max_price_lamports') },
  ],
  topup_balance: (call) => [
    'BalanceToppedUp',
    ...rental(call),
    { u64: call.amount('amount_lamports') },
    { u64: call.balance.balance },
    { u64: call.amount('max_price_lamports') },
  ],
  consume_query: (call) => queryConsumed(call, chargeOf(call.args)),
  // Each charge logs its own, with the balance that it leaves.
  consume_queries: null,
  revoke_access: (call) => ['AccessRevoked', ...rental(call)],
  revoke_per_query_access: (call) => {
    const before = call.draft.ledger.get(call.id('per_query_balance')).data;
    return [
      'PerQueryAccessRevoked',
      ...rental(call),
      { u64: before.type === 'per_query_balance' ? before.balance : 0n },
      { flag: !call.credential.valid },
    ];
  },
  withdraw_earnings: (call) => {
    const before = call.draft.ledger.get(call.id('escrow')).data;
    const { earnings } = call.escrow;
    return [
      'EarningsWithdrawn',
      { address: call.id('listing') },
      { address: call.id('creator') },
      { u64: before.type === 'escrow' ? before.earnings - earnings : 0n },
      { u64: earnings },
    ];
  },
  verify_access: null,
};

function queryConsumed(call: Call, { sequence, runId, price }: Charge): Event {
  return [
    'QueryConsumed',
    ...rental(call),
    { bytes: runId },
    { u64: sequence },
    ...payment(call, price),
    { u64: call.balance.balance },
  ];
}

function rental(call: Call): Field[] {
  return [{ address: call.id('listing') }, { address: call.id('buyer') }];
}

function payment(call: Call, price: bigint): Field[] {
  return [{ u64: price }, { u64: feeOf(price, call.protocol.feeBps) }];
}

function window(call: Call): Field[] {
  const price = windowCost(call.listing.price, call.amount('duration_seconds'));
  return [...payment(call, price), { u64: call.credential.expiresAt }];
}

/** What an instruction that has succeeded has logged: at most one event, or one of each charge. */
export function eventsOf(call: Call): Buffer[] {
  const describe = EVENTS[call.name];
  return describe === null ? call.logged : [encodeEvent(call, describe(call))];
}

/** Logs a charge that was just made. */
export function logCharge(call: Call, charge: Charge): void {
  call.logged.push(encodeEvent(call, queryConsumed(call, charge)));
}

function encodeEvent(call: Call, [name, ...fields]: Event): Buffer {
  return Buffer.concat([discriminator(`event:${name}`), ...fields.map((field) => encode(call, field))]);
}

function encode(call: Call, field: Field): Uint8Array {
  if ('address' in field) {
    return call.universe.key(field.address);
  }
  if ('bytes' in field) {
    return field.bytes;
  }
  if ('flag' in field) {
    return Uint8Array.of(field.flag ? 1 : 0);
  }
  if ('byte' in field) {
    return Uint8Array.of(field.byte);
  }
  if ('u16' in field) {
    return Uint8Array.of(field.u16 & 0xff, field.u16 >> 8);
  }
  if ('u64' in field) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt.asUintN(64, field.u64));
    return bytes;
  }
  const text = Buffer.from(field.text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text]);
}
