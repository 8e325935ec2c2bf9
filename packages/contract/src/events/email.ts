import * as z from 'zod';
import { timestamp } from '../primitives.js';
import { EVENT_NAMES, type EventName } from './events.js';

/** The most confirmations in 24 hours: of a wallet, to an address, and asked for from one network. */
export const EMAIL_CONFIRMATIONS_PER_DAY = { wallet: 5, address: 5, network: 20 } as const;
/** How long the link of a confirmation works. */
export const EMAIL_CONFIRMATION_HOURS = 24;
/** The shortest time between two messages to a person. */
export const EMAIL_EVERY_MINUTES = 15;
/** The most events that a message has in words. */
export const EMAIL_MOST_EVENTS = 50;

/** The events that a person hears of by e-mail without a choice. Each ended run would be a flood. */
export const EMAIL_EVENTS = [
  'run.credited',
  'approval.requested',
  'rental.expiring',
  'rental.expired',
  'balance.low',
  'balance.empty',
  'price.changed',
  'listing.version_changed',
  'listing.paused',
  'listing.closed',
  'key.created',
  'app.connected',
  'webhook.paused',
  'listing.approved',
  'listing.rejected',
  'secret.expiring',
  'agent.failing',
  'agent.recovered',
  'rental.sold',
  'review.posted',
] as const satisfies EventName[];

const events = z.array(z.enum(EVENT_NAMES)).min(1).max(EVENT_NAMES.length);

/** The e-mail address of a wallet. Only the wallet's login reads it. */
export const emailSettings = z
  .object({
    /** Whether this marketplace sends e-mail. */
    configured: z.boolean(),
    address: z.string().optional(),
    /** The address hears of events from its confirmation on. */
    confirmed: z.boolean(),
    /** The mail server refused the address then. It hears of nothing until it is confirmed again. */
    refused_at: timestamp.optional(),
    /** Absent: the default ones. */
    events: events.optional(),
  })
  .meta({ id: 'EmailSettings' });
export type EmailSettings = z.infer<typeof emailSettings>;

/** The address that replaces the present one. `events` absent: the default ones. */
export const setEmailBody = z
  .strictObject({ address: z.email().max(254), events: events.optional() })
  .meta({ id: 'SetEmail' });

/** A token that a message carries. */
export const emailToken = z.string().regex(/^[\w-]{43}$/, 'is not a token of a message');

export const confirmEmailBody = z.strictObject({ token: emailToken }).meta({ id: 'ConfirmEmail' });
