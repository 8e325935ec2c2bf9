import type { WarmPoolStats } from '@agent-rental/sandbox';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { OPEN_CHARGE_STATES } from '../database/charge-states.js';
import type { RunLogCounts } from './repository.js';

/** One answered request, as it is counted. */
interface AnsweredRequest {
  method: string;
  /** The route's pattern, never the path: a path holds ids. */
  route: string;
  status: number;
  seconds: number;
}

/** Numbers that are read when they are asked for. */
interface MetricSources {
  /** Charges whose end is open, by state. */
  openCharges(): Promise<ReadonlyMap<string, number>>;
  /** Slots that runs hold, on all replicas. */
  slotsTaken(): Promise<number>;
  /** Runs that wait in a queue for one, on all replicas. */
  runsWaiting(): Promise<number>;
  /** How far the run log is, for all replicas. */
  runLog(): Promise<RunLogCounts>;
  /** Sandboxes, by pool. */
  sandboxes: Readonly<Record<string, () => Omit<WarmPoolStats, 'takenTotal' | 'recycledTotal'>>>;
  /** Connections of the database's pool. */
  connections(): { total: number; idle: number; waiting: number };
  /** Seconds since the index was last level with the chain; undefined before it ever was. */
  indexAgeSeconds(): number | undefined;
  /** Whether this replica does what one does for all. */
  isLeader(): boolean;
  /** What authority and treasury hold, and have to hold; undefined before it was read. */
  funds():
    | {
        authorityLamports: bigint;
        authorityReserveLamports: bigint;
        treasuryLamports: bigint;
        treasuryMinimumLamports: bigint;
      }
    | undefined;
  /** Several RPC endpoints; none where there is only one. */
  rpc(): {
    endpoints: readonly {
      host: string;
      isInUse: boolean;
      isChosen: boolean;
      requests: number;
      failures: number;
      slotsBehind: number;
    }[];
    disputes: number;
  };
}

/** The server's own numbers, for Prometheus. No label has more values than a person can read. */
export interface Metrics {
  answered(request: AnsweredRequest): void;
  runBegan(): void;
  /** From a request to the first line of its agent. */
  agentBegan(seconds: number): void;
  runEnded(state: 'completed' | 'failed' | 'held' | 'undelivered' | 'refused'): void;
  chargeMoved(to: string): void;
  /** A request was counted by this replica alone, because Redis did not answer. */
  rateLimitFellBack(): void;
  /** Adds what is read when it is asked for. */
  watch(sources: MetricSources): void;
  /** Everything in Prometheus' text form. */
  expose(): Promise<{ contentType: string; body: string }>;
}

/** Around what a start is to take: 200 ms at most, for 19 in 20. */
const START_BUCKETS_SECONDS = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 10, 60];
/** From a cached read to the longest run. */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
// At the default of 10 ms the sampling alone keeps an idle process busy.
const EVENT_LOOP_PRECISION_MS = 50;
const SANDBOX_STATES = ['idle', 'starting', 'active', 'ending', 'waiting'] as const;

/** Makes the metrics of one process, those of Node.js itself (event loop, heap, CPU) among them. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  const durations = new Histogram({
    name: 'agent_rental_http_request_duration_seconds',
    help: 'Time to answer, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const running = new Gauge({
    name: 'agent_rental_runs_running',
    help: 'Runs that this process works on.',
    registers,
  });
  const runs = new Counter({
    name: 'agent_rental_runs_total',
    help:
      'Runs of this process that have ended: completed, failed, held (the result waits for its charge), ' +
      'undelivered (made good), refused (uncharged).',
    labelNames: ['state'],
    registers,
  });
  const starts = new Histogram({
    name: 'agent_rental_run_start_seconds',
    help: 'Time from a request to the first line of its agent, a wait in the queue included.',
    buckets: START_BUCKETS_SECONDS,
    registers,
  });
  const charges = new Counter({
    name: 'agent_rental_charges_total',
    help: 'Charges that this process moved into a state.',
    labelNames: ['state'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'agent_rental_rate_limit_fallbacks_total',
    help: 'Requests that were counted by this replica alone, because Redis did not answer.',
    registers,
  });

  return {
    answered: ({ method, route, status, seconds }) => durations.observe({ method, route, status }, seconds),
    runBegan: () => running.inc(),
    agentBegan: (seconds) => starts.observe(seconds),
    runEnded(state) {
      running.dec();
      runs.inc({ state });
    },
    chargeMoved: (state) => charges.inc({ state }),
    rateLimitFellBack: () => fallbacks.inc(),
    watch: (sources) => watch(sources, registers),
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function watch(sources: MetricSources, registers: Registry[]): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    collect: (metric: Gauge) => Promise<void> | void,
  ) =>
    new Gauge({
      name: `agent_rental_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        return collect(this);
      },
    });

  gauge('charges_open', 'Charges whose end is open, of all replicas.', ['state'], async (metric) => {
    const counts = await sources.openCharges();
    for (const state of OPEN_CHARGE_STATES) metric.set({ state }, counts.get(state) ?? 0);
  });
  gauge('seats_taken', 'Slots that runs hold, on all replicas.', [], async (metric) =>
    metric.set(await sources.slotsTaken()),
  );
  gauge('runs_waiting', 'Runs that wait in the queue for a slot, on all replicas.', [], async (metric) =>
    metric.set(await sources.runsWaiting()),
  );
  const runLog = (name: string, help: string, read: (counts: RunLogCounts) => number) =>
    gauge(`run_log_${name}`, help, [], async (metric) => metric.set(read(await sources.runLog())));
  runLog(
    'pending_runs',
    'Ended runs without a charge that are in no batch of the run log yet.',
    ({ pendingRuns }) => pendingRuns,
  );
  runLog('final_batch', 'Number of the newest batch that is final on-chain.', ({ finalBatch }) => finalBatch);
  runLog(
    'open_batch_seconds',
    'How long the batch that is not final yet has been there; 0 where there is none.',
    ({ openSeconds }) => openSeconds,
  );
  gauge(
    'sandboxes',
    'Sandboxes by pool and state; idle are warm, active are in use, waiting are runs that wait for one.',
    ['pool', 'state'],
    (metric) => {
      for (const [pool, read] of Object.entries(sources.sandboxes)) {
        const counts = read();
        for (const state of SANDBOX_STATES) metric.set({ pool, state }, counts[state]);
      }
    },
  );
  gauge(
    'sandbox_failures',
    'Sandboxes that did not start or died while they were warm, and runs that got none, since the start.',
    ['pool', 'kind'],
    (metric) => {
      for (const [pool, read] of Object.entries(sources.sandboxes)) {
        const { startFailuresTotal, diedIdleTotal, refusedTotal } = read();
        metric.set({ pool, kind: 'start' }, startFailuresTotal);
        metric.set({ pool, kind: 'died' }, diedIdleTotal);
        metric.set({ pool, kind: 'refused' }, refusedTotal);
      }
    },
  );
  gauge('sandbox_starts', 'Sandboxes that were started, since the start.', ['pool'], (metric) => {
    for (const [pool, read] of Object.entries(sources.sandboxes)) metric.set({ pool }, read().startsTotal);
  });
  gauge(
    'sandbox_refill_seconds',
    'How long the warm sandboxes have been fewer than they should be, or were the last time.',
    ['pool'],
    (metric) => {
      for (const [pool, read] of Object.entries(sources.sandboxes)) {
        metric.set({ pool }, read().refillMs / 1000);
      }
    },
  );
  gauge(
    'database_connections',
    'Connections of the pool; waiting are queries that wait for one.',
    ['state'],
    (metric) => {
      for (const [state, count] of Object.entries(sources.connections())) metric.set({ state }, count);
    },
  );
  gauge(
    'index_age_seconds',
    'Time since the index was last level with the chain; -1 before that.',
    [],
    (metric) => metric.set(sources.indexAgeSeconds() ?? -1),
  );
  gauge(
    'leader',
    '1 on the replica that indexes, follows charges and writes the run log for all.',
    [],
    (metric) => metric.set(sources.isLeader() ? 1 : 0),
  );
  const ofFunds = (
    name: string,
    help: string,
    read: (funds: NonNullable<ReturnType<MetricSources['funds']>>) => bigint,
  ) =>
    gauge(name, help, [], (metric) => {
      const funds = sources.funds();
      if (funds) metric.set(Number(read(funds)));
    });
  ofFunds('authority_lamports', 'What the authority holds.', ({ authorityLamports }) => authorityLamports);
  ofFunds(
    'authority_reserve_lamports',
    'Below it no Per-Task run is taken.',
    ({ authorityReserveLamports }) => authorityReserveLamports,
  );
  ofFunds('treasury_lamports', 'What the treasury holds.', ({ treasuryLamports }) => treasuryLamports);
  ofFunds(
    'treasury_minimum_lamports',
    'Below it charges are refused on-chain.',
    ({ treasuryMinimumLamports }) => treasuryMinimumLamports,
  );
  const ofEndpoints = (
    name: string,
    help: string,
    read: (endpoint: ReturnType<MetricSources['rpc']>['endpoints'][number]) => number,
  ) =>
    gauge(`rpc_${name}`, `${help} Of each RPC endpoint, where there are several.`, ['endpoint'], (metric) => {
      for (const endpoint of sources.rpc().endpoints) metric.set({ endpoint: endpoint.host }, read(endpoint));
    });
  ofEndpoints('requests', 'Calls since the start.', ({ requests }) => requests);
  ofEndpoints('failures', 'How often it was left, since the start.', ({ failures }) => failures);
  ofEndpoints('in_use', '1 while it is in use.', ({ isInUse }) => Number(isInUse));
  ofEndpoints('chosen', '1 while reads go to it first.', ({ isChosen }) => Number(isChosen));
  ofEndpoints('slots_behind', 'How far it is behind the newest slot.', ({ slotsBehind }) => slotsBehind);
  gauge(
    'rpc_disputes',
    'Transactions on whose end the RPC endpoints did not agree for 10 s, since the start.',
    [],
    (metric) => metric.set(sources.rpc().disputes),
  );
}
