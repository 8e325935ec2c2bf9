import * as z from 'zod';
import { lamports, listingId, timestamp } from '../primitives.js';

/** The windows over which a renter's runs and their costs are counted, in whole days of UTC. */
export const SPENDING_WINDOWS = ['7d', '30d'] as const;
export type SpendingStatsWindow = (typeof SPENDING_WINDOWS)[number];

/** Agents in one answer of `GET /v1/spending` at most. */
export const SPENDING_AGENTS = 100;

/** Query of `GET /v1/spending`. */
export const spendingQuery = z.strictObject({ window: z.enum(SPENDING_WINDOWS).default('7d') });

const counts = {
  completed: z.int().min(0),
  failed: z.int().min(0),
  /** Runs that the service could not serve. They cost nothing. */
  undelivered: z.int().min(0),
  /** The cost of the runs, as each run's answer says it. Purchases and deposits are not in it. */
  spent_lamports: lamports,
};

/** Runs that ended within one day, and their cost. */
export const spendingPeriod = z
  .object({
    /** Start of the day, in UTC. */
    started_at: timestamp,
    ...counts,
  })
  .meta({ id: 'SpendingPeriod' });
export type SpendingPeriod = z.infer<typeof spendingPeriod>;

/** Runs of one agent that ended within the window, and their cost. */
export const agentSpending = z
  .object({ listing_id: listingId, listing_title: z.string(), ...counts })
  .meta({ id: 'AgentSpending' });
export type AgentSpending = z.infer<typeof agentSpending>;

/** Answer of `GET /v1/spending`: the caller's ended runs within a window. */
export const spending = z
  .object({
    window: z.enum(SPENDING_WINDOWS),
    /** Start of the window: a whole day, in UTC. The window includes the present day. */
    since: timestamp,
    /** All runs of the window. */
    sum: z.object(counts),
    /** Each day in order, also days without runs. */
    series: z.array(spendingPeriod),
    /** The agents that cost most, then those with most runs; at most 100. */
    agents: z.array(agentSpending),
  })
  .meta({ id: 'Spending' });
export type Spending = z.infer<typeof spending>;
