import * as z from 'zod';
import { EXPIRING_SECRET_HOURS } from '../limits.js';
import { jsonObject, listingId, lamports, queryNumber, rentalModel, timestamp } from '../primitives.js';

/** How long events are kept. */
export const EVENT_KEPT_DAYS = 30;
/** A balance is low below so many runs, where its wallet has set no other number. */
export const LOW_BALANCE_RUNS = 10;

/** Which events a wallet hears of. */
export const eventSettings = z
  .strictObject({
    /** `balance.low` tells of a balance that pays for fewer runs. With 1, only `balance.empty` is told. */
    low_balance_runs: z.int().min(1).max(1_000),
  })
  .meta({ id: 'EventSettings' });
export type EventSettings = z.infer<typeof eventSettings>;

const listing = z.object({ listing_id: listingId });
const run = listing.extend({ run_id: z.uuid() });
const endedRun = run.extend({ status: z.enum(['completed', 'failed']) });
const rental = listing.extend({ credential: z.string() });
const newRental = rental.extend({ rental_model: rentalModel });
const balance = listing.extend({ balance_lamports: lamports, price_lamports: lamports });
const key = z.object({ key_id: z.uuid(), label: z.string(), scopes: z.array(z.string()) });
const hook = z.object({ webhook_id: z.uuid() });
const approval = listing.extend({
  approval_id: z.uuid(),
  kind: z.enum(['run', 'rental']),
  lamports,
  state: z.enum(['open', 'approved', 'refused']),
});

/**
 * Every event: who hears it, whether API keys do, and its `data`. Of `run` a key hears of its runs and questions;
 * of `rental` about listings that its policy allows; of `wallet` nothing.
 */
export const EVENTS = {
  'run.completed': { to: 'renter', seenBy: 'run', data: endedRun, summary: 'A run has a result.' },
  'run.failed': { to: 'renter', seenBy: 'run', data: endedRun, summary: 'A run ended without a result.' },
  'run.credited': {
    to: 'renter',
    seenBy: 'run',
    data: run,
    summary: 'A run that failed by our fault gave a free run.',
  },
  'approval.requested': { to: 'renter', seenBy: 'run', data: approval, summary: 'A key asks to spend.' },
  'approval.answered': { to: 'renter', seenBy: 'run', data: approval, summary: 'A question was answered.' },
  'rental.created': {
    to: 'renter',
    seenBy: 'rental',
    data: newRental,
    summary: 'The wallet rents an agent.',
  },
  'rental.expiring': {
    to: 'renter',
    seenBy: 'rental',
    data: rental.extend({ expires_at: z.string(), days: z.union([z.literal(1), z.literal(7)]) }),
    summary: 'A subscription ends within 7 days, or within 1 day.',
  },
  'rental.expired': {
    to: 'renter',
    seenBy: 'rental',
    data: rental.extend({ expires_at: z.string() }),
    summary: 'A subscription has ended.',
  },
  'balance.low': {
    to: 'renter',
    seenBy: 'rental',
    data: balance,
    summary: `A balance pays for fewer than ${LOW_BALANCE_RUNS} runs, or the number that its wallet has set.`,
  },
  'balance.empty': { to: 'renter', seenBy: 'rental', data: balance, summary: 'A balance pays for no run.' },
  'price.changed': {
    to: 'renter',
    seenBy: 'rental',
    data: listing.extend({ price_lamports: lamports, previous_price_lamports: lamports }),
    summary: 'A rented agent has another price.',
  },
  'listing.version_changed': {
    to: 'renter',
    seenBy: 'rental',
    data: listing.extend({ version: z.int(), breaking: z.boolean() }),
    summary: 'A rented agent has another version.',
  },
  'listing.paused': { to: 'renter', seenBy: 'rental', data: listing, summary: 'A rented agent is paused.' },
  'listing.closed': { to: 'renter', seenBy: 'rental', data: listing, summary: 'A rented agent was closed.' },
  'key.created': { to: 'renter', seenBy: 'wallet', data: key, summary: 'The wallet has a new API key.' },
  'app.connected': { to: 'renter', seenBy: 'wallet', data: key, summary: 'An app was connected.' },
  'webhook.paused': {
    to: 'renter',
    seenBy: 'wallet',
    data: hook.extend({ failing_since: z.string() }),
    summary: 'A webhook failed for 3 days and hears of nothing more.',
  },
  'email.refused': {
    to: 'renter',
    seenBy: 'wallet',
    data: z.object({}),
    summary: 'The mail server permanently refused an address. It gets no more messages.',
  },
  'webhook.test': {
    to: 'renter',
    seenBy: 'wallet',
    data: hook,
    summary: 'A wallet tests a webhook. Only the webhook hears of it.',
  },
  'listing.approved': {
    to: 'creator',
    seenBy: 'wallet',
    data: listing,
    summary: 'A review approved a version.',
  },
  'listing.rejected': {
    to: 'creator',
    seenBy: 'wallet',
    data: listing,
    summary: 'A review rejected a version.',
  },
  'secret.expiring': {
    to: 'creator',
    seenBy: 'wallet',
    data: listing.extend({ expires_at: z.string() }),
    summary: `The replaced secret of an agent signs for ${EXPIRING_SECRET_HOURS} more hours.`,
  },
  'agent.failing': { to: 'creator', seenBy: 'wallet', data: listing, summary: 'An agent fails its checks.' },
  'agent.recovered': { to: 'creator', seenBy: 'wallet', data: listing, summary: 'An agent works again.' },
  'rental.sold': { to: 'creator', seenBy: 'wallet', data: newRental, summary: 'An agent was rented.' },
  'earnings.withdrawn': {
    to: 'creator',
    seenBy: 'wallet',
    data: listing.extend({ lamports }),
    summary: 'Earnings were withdrawn.',
  },
  'review.posted': {
    to: 'creator',
    seenBy: 'wallet',
    data: listing.extend({ rating: z.int().min(1).max(5) }),
    summary: 'A renter reviewed an agent.',
  },
} as const satisfies Record<
  string,
  { to: 'renter' | 'creator'; seenBy: 'run' | 'rental' | 'wallet'; data: z.ZodType; summary: string }
>;

/** The name of an event. */
export type EventName = keyof typeof EVENTS;

/** The names of all events. */
export const EVENT_NAMES = Object.keys(EVENTS) as [EventName, ...EventName[]];

/** What happened to a wallet, as every way of delivery tells it. */
export interface WalletEvent<N extends EventName = EventName> {
  /** The same for each delivery. */
  id: string;
  name: N;
  /** For example `run:<id>`. */
  subject: string;
  /** Counts the events of a subject from 1; anew after 30 days without any. */
  sequence: number;
  created_at: string;
  data: z.output<(typeof EVENTS)[N]['data']>;
}

/** An event on the wire. */
export const walletEvent = z
  .object({
    id: z.uuid(),
    name: z.enum(EVENT_NAMES),
    subject: z.string(),
    sequence: z.int().min(1),
    created_at: timestamp,
    data: jsonObject,
  })
  .meta({ id: 'WalletEvent' });

/** The place after an event, in the order of events. */
export const eventCursor = z.string().regex(/^\d{1,18}$/, 'is not a cursor of events');

const names = z
  .string()
  .max(1_000)
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(EVENT_NAMES)).max(EVENT_NAMES.length));

/** Which events to list, by default the oldest first. `types` has their names with commas between them. */
export const listEventsQuery = z.strictObject({
  after: eventCursor.optional(),
  before: eventCursor.optional(),
  order: z.enum(['oldest', 'newest']).default('oldest'),
  types: names.optional(),
  limit: queryNumber(z.int().min(1).max(100)).default(20),
});

/** A page of events. */
export const listEventsResponse = z
  .object({
    events: z.array(walletEvent),
    /** `after` of the next request, or `before` with `order=newest`. Absent where there is no event yet. */
    cursor: eventCursor.optional(),
  })
  .meta({ id: 'ListEventsResponse' });
