import * as z from 'zod';
import { listingId, timestamp } from '../primitives.js';
import { RUN_FAILURE_CLASSES } from './creator-runs.js';

/** The times over which the runs of a listing are counted for its creator; the one list of them. */
export const STATS_WINDOWS = ['24h', '7d', '30d'] as const;
export type StatsWindow = (typeof STATS_WINDOWS)[number];

/** What requests for runs of a listing are refused for, where it is the listing's or its renters' to change. */
export const RUN_REFUSALS = {
  no_slot: 'All concurrent runs of the agent were taken, and its queue was full or too slow',
  rate_limit: 'The renter ran the agent more often in a minute than the listing allows',
  insufficient_balance: "The renter's prepaid balance was too low",
} as const;
export type RunRefusal = keyof typeof RUN_REFUSALS;

/** Query of `GET /v1/agents/:listing_id/stats`. */
export const agentStatsQuery = z.strictObject({ window: z.enum(STATS_WINDOWS).default('24h') });

/** Whether an own agent works, as its nightly runs and its renters' runs show. */
export const agentHealth = z
  .object({
    /** Whether it is run every night: `listing.health_checks`. */
    is_checked: z.boolean(),
    /** When the service ran it last and could tell whether it works. */
    checked_at: timestamp.nullable(),
    /** Nights on which it failed since it worked last. */
    failed_days: z.int().min(0),
    /** Why it failed last; null once it works. */
    problem: z.string().nullable(),
    /** Since when the listing says that it fails: after three such nights. */
    failing_since: timestamp.nullable(),
    /** Since when search leaves it out: after thirty. */
    hidden_since: timestamp.nullable(),
  })
  .meta({ id: 'AgentHealth' });

/** How the runs of an own listing ended within one hour or day of a window. */
export const agentStatsPeriod = z
  .object({
    /** Its begin, in UTC. */
    started_at: timestamp,
    completed: z.int().min(0),
    failed: z.int().min(0),
    undelivered: z.int().min(0),
    /** Of runs with a result, to within 5%; null where there was none. */
    duration_ms: z.object({ p50: z.int().min(0).nullable(), p95: z.int().min(0).nullable() }),
    /**
     * What the listing earned after the fee, as the service saw it confirmed on-chain; below 0 where a fork took back more than
     * was earned.
     */
    earned_lamports: z.int(),
  })
  .meta({ id: 'AgentStatsPeriod' });
export type AgentStatsPeriod = z.infer<typeof agentStatsPeriod>;

/** How the runs of an own listing ended within a time, in numbers alone. */
export const agentStats = z
  .object({
    listing_id: listingId,
    window: z.enum(STATS_WINDOWS),
    /**
     * What is counted began at this time, a whole hour or, for `7d` and `30d`, a whole day in UTC: the present one and as many
     * before it as fill the window.
     */
    since: timestamp,
    runs: z.object({
      total: z.int().min(0),
      completed: z.int().min(0),
      failed: z.int().min(0),
      /** Could not be served, and cost their renters nothing. */
      undelivered: z.int().min(0),
    }),
    /** Of runs with a result, to within 5%; null where there was none. */
    duration_ms: z.object({ p50: z.int().min(0).nullable(), p95: z.int().min(0).nullable() }),
    /** Why runs failed or could not be served, the most frequent first. */
    failures: z.array(z.object({ class: z.enum(RUN_FAILURE_CLASSES), count: z.int().min(1) })),
    /** Requests that began no run. Counted in memory first: up to 10 s late, and those of a process that is killed are lost. */
    refusals: z.object({
      no_slot: z.int().min(0),
      rate_limit: z.int().min(0),
      insufficient_balance: z.int().min(0),
    }),
    health: agentHealth,
    /**
     * The same by the hours of `24h`, or the days of `7d` and `30d`, in order, those without runs included. Absent from servers
     * that count whole windows alone.
     */
    series: z.array(agentStatsPeriod).optional(),
  })
  .meta({ id: 'AgentStats' });
export type AgentStats = z.infer<typeof agentStats>;
