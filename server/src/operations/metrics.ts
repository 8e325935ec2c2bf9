import type { RunFailureClass } from '@agent-rental/contract';
import type { WarmPoolStats } from '@agent-rental/sandbox';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CHARGE_STATES, OPEN_CHARGE_STATES } from '../database/charge-states.js';
import { RUN_STEPS, type RunStep } from '../runs/index.js';
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
  openCharges(): Promise<ReadonlyMap<string, { count: number; oldestSeconds: number }>>;
  /** Slots that runs hold, on all replicas. */
  slotsTaken(): Promise<number>;
  /** Runs that wait in a queue for one, on all replicas. */
  runsWaiting(): Promise<number>;
  /** How far the run log is, for all replicas. */
  runLog(): Promise<RunLogCounts>;
  /** Deliveries of events that wait, on all replicas. */
  deliveriesWaiting(): Promise<{ count: number; oldestSeconds: number }>;
  /** Sandboxes, by pool. */
  sandboxes: Readonly<Record<string, () => Omit<WarmPoolStats, 'takenTotal' | 'recycledTotal'>>>;
  /** Connections of the database's pool. */
  connections(): { total: number; idle: number; waiting: number };
  /** Seconds since the index was last level with the chain; undefined before it ever was. */
  indexAgeSeconds(): number | undefined;
  /** Seconds since this replica followed all charges that were due; undefined before it ever did. */
  reconcilerAgeSeconds(): number | undefined;
  /** Whether this replica is the leader, which does the work that one replica does for all. */
  isLeader(): boolean;
  /** The balances of authority and treasury, and their least balances; undefined before the first reading. */
  funds():
    | {
        authorityLamports: bigint;
        authorityReserveLamports: bigint;
        treasuryLamports: bigint;
        treasuryMinimumLamports: bigint;
      }
    | undefined;
  /** Payments of calls whose end may still be taken back, by state. */
  openPayments(): Promise<ReadonlyMap<string, number>>;
  /** The till's money for payments in USDC; undefined where none is taken. */
  till(): { units: bigint | null; floatLamports: bigint } | undefined;
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
  runEnded(state: (typeof RUN_ENDS)[number]): void;
  /** A run that its agent or its caller ended as failed, by the class that creators are told. */
  runFailed(failure: RunFailureClass): void;
  stepEnded(step: RunStep, seconds: number): void;
  modelCalled(call: {
    provider: string;
    outcome: 'completed' | 'limit' | 'stopped' | 'unavailable';
    seconds: number;
  }): void;
  contentRead(read: {
    scheme: 'ipfs' | 'ar';
    outcome: 'read' | 'refused' | 'unavailable';
    seconds: number;
  }): void;
  chargeMoved(to: string): void;
  /** A request to a webhook has ended. `failed` is for one that is not tried again. */
  eventSent(outcome: (typeof DELIVERY_OUTCOMES)[number]): void;
  /** A request was counted by this replica alone, because Redis did not answer. */
  rateLimitFellBack(): void;
  /** Adds the sources that are read at each request for the metrics. */
  watch(sources: MetricSources): void;
  /** Everything in Prometheus' text form. */
  expose(): Promise<{ contentType: string; body: string }>;
}

/** How a request to a webhook ends. */
const DELIVERY_OUTCOMES = ['delivered', 'pending', 'failed'] as const;
/** How a run of this process ends. */
const RUN_ENDS = ['completed', 'failed', 'held', 'undelivered', 'refused'] as const;
/** Around the target of a start: 200 ms at most, for 19 in 20. */
const START_BUCKETS_SECONDS = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 10, 60];
/** From a cached read to the longest run. */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** From a statement of the database to the longest run. */
const STEP_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 60, 300,
];
// At the default of 10 ms the sampling alone keeps an idle process busy.
const EVENT_LOOP_PRECISION_MS = 50;
const OPEN_PAYMENT_STATES = ['received', 'landed', 'funded', 'refunded'] as const;
const SANDBOX_STATES = ['idle', 'starting', 'active', 'ending', 'waiting'] as const;

/** Makes the metrics of one process, including Node.js' own (event loop, heap, CPU). */
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
  const failures = new Counter({
    name: 'agent_rental_run_failures_total',
    help: 'Failed runs of this process, by the class that their creators are told.',
    labelNames: ['class'],
    registers,
  });
  const steps = new Histogram({
    name: 'agent_rental_run_step_seconds',
    help: 'Time that a step of a run took; a charge lasts until it is confirmed.',
    labelNames: ['step'],
    buckets: STEP_BUCKETS_SECONDS,
    registers,
  });
  const modelCalls = new Histogram({
    name: 'agent_rental_model_call_seconds',
    help: 'Time that a call of a model took, by provider and how it ended.',
    labelNames: ['provider', 'outcome'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const contentReads = new Histogram({
    name: 'agent_rental_content_read_seconds',
    help: 'Time to read an input at ipfs:// or ar://, by how it ended.',
    labelNames: ['scheme', 'outcome'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const charges = new Counter({
    name: 'agent_rental_charges_total',
    help: 'Charges that this process moved into a state.',
    labelNames: ['state'],
    registers,
  });
  const deliveries = new Counter({
    name: 'agent_rental_deliveries_total',
    help: 'Requests of this process to webhooks, by the state of the delivery after it.',
    labelNames: ['state'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'agent_rental_rate_limit_fallbacks_total',
    help: 'Requests that were counted by this replica alone, because Redis did not answer.',
    registers,
  });

  // An alert on the first lost charge, or the first run that is not delivered, needs a 0 before it.
  for (const state of Object.keys(CHARGE_STATES)) if (state !== 'reserved') charges.inc({ state }, 0);
  for (const state of RUN_ENDS) runs.inc({ state }, 0);
  for (const state of DELIVERY_OUTCOMES) deliveries.inc({ state }, 0);
  for (const step of RUN_STEPS) steps.zero({ step });

  return {
    answered: ({ method, route, status, seconds }) => durations.observe({ method, route, status }, seconds),
    runBegan: () => running.inc(),
    agentBegan: (seconds) => starts.observe(seconds),
    runEnded(state) {
      running.dec();
      runs.inc({ state });
    },
    runFailed: (failure) => failures.inc({ class: failure }),
    stepEnded: (step, seconds) => steps.observe({ step }, seconds),
    modelCalled: ({ provider, outcome, seconds }) => modelCalls.observe({ provider, outcome }, seconds),
    contentRead: ({ scheme, outcome, seconds }) => contentReads.observe({ scheme, outcome }, seconds),
    chargeMoved: (state) => charges.inc({ state }),
    eventSent: (state) => deliveries.inc({ state }),
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
    for (const state of OPEN_CHARGE_STATES) metric.set({ state }, counts.get(state)?.count ?? 0);
  });
  gauge(
    'charges_oldest_open_seconds',
    'Time since the oldest charge whose end is open was made, of all replicas; 0 where there is none.',
    ['state'],
    async (metric) => {
      const counts = await sources.openCharges();
      for (const state of OPEN_CHARGE_STATES) metric.set({ state }, counts.get(state)?.oldestSeconds ?? 0);
    },
  );
  gauge(
    'reconciler_age_seconds',
    'On the leader, the time since charges that are due were all followed; -1 elsewhere and before that.',
    [],
    (metric) => metric.set(sources.isLeader() ? (sources.reconcilerAgeSeconds() ?? -1) : -1),
  );
  gauge('seats_taken', 'Slots that runs hold, on all replicas.', [], async (metric) =>
    metric.set(await sources.slotsTaken()),
  );
  gauge('runs_waiting', 'Runs that wait in the queue for a slot, on all replicas.', [], async (metric) =>
    metric.set(await sources.runsWaiting()),
  );
  gauge('deliveries_pending', 'Deliveries of events that wait, of all replicas.', [], async (metric) =>
    metric.set((await sources.deliveriesWaiting()).count),
  );
  gauge(
    'deliveries_oldest_pending_seconds',
    'Time since the oldest delivery that waits was made, of all replicas; 0 where there is none.',
    [],
    async (metric) => metric.set((await sources.deliveriesWaiting()).oldestSeconds),
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
  ofFunds(
    'authority_lamports',
    'The balance of the authority.',
    ({ authorityLamports }) => authorityLamports,
  );
  ofFunds(
    'authority_reserve_lamports',
    'Below it no Per-Task run is taken.',
    ({ authorityReserveLamports }) => authorityReserveLamports,
  );
  ofFunds('treasury_lamports', 'The balance of the treasury.', ({ treasuryLamports }) => treasuryLamports);
  ofFunds(
    'treasury_minimum_lamports',
    'Below it charges are refused on-chain.',
    ({ treasuryMinimumLamports }) => treasuryMinimumLamports,
  );
  gauge(
    'payments_open',
    'Payments of calls that are not final yet, of all replicas: received, landed, funded or refunded.',
    ['state'],
    async (metric) => {
      const counts = await sources.openPayments();
      for (const state of OPEN_PAYMENT_STATES) metric.set({ state }, counts.get(state) ?? 0);
    },
  );
  gauge('till_float_lamports', 'Lamports that can still be given for USDC now.', [], (metric) => {
    const till = sources.till();
    if (till) metric.set(Number(till.floatLamports));
  });
  gauge('till_usdc_units', 'USDC of the till; 1,000,000 units are one.', [], (metric) => {
    const till = sources.till();
    if (till) metric.set(Number(till.units ?? 0n));
  });
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
