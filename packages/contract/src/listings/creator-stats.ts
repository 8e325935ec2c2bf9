import * as z from 'zod';
import { listingId, timestamp } from '../primitives.js';
import { RUN_FAILURE_CLASSES } from './creator-runs.js';

/** The windows over which a creator's statistics count the runs of a listing. */
export const STATS_WINDOWS = ['24h', '7d', '30d'] as const;
export type StatsWindow = (typeof STATS_WINDOWS)[number];

/** Refusals of runs that the creator or the renter can prevent. */
export const RUN_REFUSALS = {
  no_slot: 'All concurrent runs of the agent were taken, and its queue was full or too slow',
  rate_limit: 'The renter ran the agent more often in a minute than the listing allows',
  insufficient_balance: "The renter's prepaid balance was too low",
} as const;
export type RunRefusal = keyof typeof RUN_REFUSALS;

/** Query of `GET /v1/agents/:listing_id/stats`. */
export const agentStatsQuery = z.strictObject({ window: z.enum(STATS_WINDOWS).default('24h') });

/** Health of an own agent, from its nightly runs and its renters' runs. */
export const agentHealth = z
  .object({
    /** Whether the agent has nightly runs: `listing.health_checks`. */
    is_checked: z.boolean(),
    /** Time of the last nightly run with a clear result. */
    checked_at: timestamp.nullable(),
    /** Nights on which the agent failed since its last success. */
    failed_days: z.int().min(0),
    /** Cause of the last failure; null once the agent works. */
    problem: z.string().nullable(),
    /** The listing shows the failure since this time: after three such nights. */
    failing_since: timestamp.nullable(),
    /** Search hides the listing since this time: after thirty such nights. */
    hidden_since: timestamp.nullable(),
  })
  .meta({ id: 'AgentHealth' });

/** Statistics of the runs of an own listing within one hour or day of a window. */
export const agentStatsPeriod = z
  .object({
    /** Start of the period, in UTC. */
    started_at: timestamp,
    completed: z.int().min(0),
    failed: z.int().min(0),
    undelivered: z.int().min(0),
    /** Durations of runs with a result, to within 5%; null without such a run. */
    duration_ms: z.object({ p50: z.int().min(0).nullable(), p95: z.int().min(0).nullable() }),
    /**
     * Earnings of the listing after the fee, confirmed on-chain. The number is negative where a fork took back more than the
     * period earned.
     */
    earned_lamports: z.int(),
  })
  .meta({ id: 'AgentStatsPeriod' });
export type AgentStatsPeriod = z.infer<typeof agentStatsPeriod>;

/** Statistics of the runs of an own listing within a window. */
export const agentStats = z
  .object({
    listing_id: listingId,
    window: z.enum(STATS_WINDOWS),
    /**
     * Start of the window in UTC: a whole hour, or for `7d` and `30d` a whole day. The window includes the present hour or
     * day.
     */
    since: timestamp,
    runs: z.object({
      total: z.int().min(0),
      completed: z.int().min(0),
      failed: z.int().min(0),
      /** Runs that the service could not serve. Their renters paid nothing. */
      undelivered: z.int().min(0),
    }),
    /** Durations of runs with a result, to within 5%; null without such a run. */
    duration_ms: z.object({ p50: z.int().min(0).nullable(), p95: z.int().min(0).nullable() }),
    /** Failures of failed and undelivered runs, the most frequent first. */
    failures: z.array(z.object({ class: z.enum(RUN_FAILURE_CLASSES), count: z.int().min(1) })),
    /** Refused requests. The count is up to 10 s late, because it is in memory first. A killed process loses its part. */
    refusals: z.object({
      no_slot: z.int().min(0),
      rate_limit: z.int().min(0),
      insufficient_balance: z.int().min(0),
    } satisfies Record<RunRefusal, z.ZodType>),
    /**
     * Loads of the listing's page, by people and by bots, counted without a cookie. The count is as late as refusals are.
     * Absent from servers that do not count them.
     */
    views: z.int().min(0).optional(),
    /** New rentals by the index of the chain. Renewals and top-ups are not counted. Absent as `views`. */
    rentals: z.int().min(0).optional(),
    health: agentHealth,
    /**
     * The same statistics for each hour of `24h`, or each day of `7d` and `30d`, in order. Periods without runs are included.
     * Absent from servers that count only whole windows.
     */
    series: z.array(agentStatsPeriod).optional(),
  })
  .meta({ id: 'AgentStats' });
export type AgentStats = z.infer<typeof agentStats>;

/** Agents in one answer of `GET /v1/earnings/stats` at most. */
export const AGENTS_WITH_STATS = 1_000;

/** Query of `GET /v1/earnings/stats`. */
export const agentsStatsQuery = z.strictObject({ window: z.enum(['7d', '30d']).default('7d') });

const ends = {
  completed: z.int().min(0),
  failed: z.int().min(0),
  undelivered: z.int().min(0),
  /** Earnings after the fee, confirmed on-chain; negative where a fork took back more than was earned. */
  earned_lamports: z.int(),
};

/** Statistics of all own listings together, and of each, within a window of whole days. */
export const agentsStats = z
  .object({
    window: z.enum(['7d', '30d']),
    /** Start of the window: a whole day, in UTC. The window includes the present day. */
    since: timestamp,
    /** Each day in order, also days without runs. */
    series: z.array(
      z
        .object({
          /** Start of the day, in UTC. */
          started_at: timestamp,
          ...ends,
        })
        .meta({ id: 'AgentsStatsPeriod' }),
    ),
    /** The listings with runs or earnings in the window, those with most runs first; at most 1,000. */
    agents: z.array(z.object({ listing_id: listingId, ...ends }).meta({ id: 'AgentsStatsEntry' })),
  })
  .meta({ id: 'AgentsStats' });
export type AgentsStats = z.infer<typeof agentsStats>;
