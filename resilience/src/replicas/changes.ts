import type { Random } from '@agent-rental/test/support/random';
import type { ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';
import { leadersOf, takeOver } from './metrics.js';

/** The time within which another replica must lead. */
const FAILOVER_MS = 5_000;
/** Requests between two crowds, and between two bursts. */
const CROWD_EVERY = 900;
const BURST_EVERY = 700;

/** Makes a function that starts the crowds and bursts that are due after a number of requests. */
export function eventsOf(
  requests: number,
  events: { crowd(): Promise<unknown>; burst(index: number): Promise<unknown> },
): (sent: number) => Promise<unknown>[] {
  const regularly = (every: number, event: (index: number) => Promise<unknown>) => {
    let count = 0;
    return (sent: number) => (sent >= Math.floor(every / 2) + count * every ? [event(count++)] : []);
  };
  const crowds = regularly(Math.min(CROWD_EVERY, Math.floor(requests / 3)), events.crowd);
  const bursts = regularly(Math.min(BURST_EVERY, Math.floor(requests / 4)), events.burst);
  return (sent) => [...crowds(sent), ...bursts(sent)];
}

/** Kills and adds replicas in turns, spread over the requests. */
export function changesOf(
  market: ReplicaMarket,
  requests: number,
  kills: number,
  { random, log, broken }: { random: Random; log(line: string): void; broken: string[] },
) {
  const killed: string[] = [];
  const added: string[] = [];
  const failoverMs: number[] = [];
  const kill = async (): Promise<void> => {
    const leaders = await leadersOf(market.running);
    // The first victim is the leader, and a later one is random.
    const isLeader = killed.length === 0;
    const victim = isLeader ? leaders[0] : random.pick(market.running);
    if (victim === undefined) {
      broken.push('no replica leads');
      return;
    }
    log(`killing ${victim.name}${leaders.includes(victim) ? ', which leads' : ''}`);
    killed.push(victim.name);
    const startedAt = performance.now();
    await victim.kill();
    if (!leaders.includes(victim)) return;
    await takeOver(() => market.running);
    const tookMs = Math.round(performance.now() - startedAt);
    failoverMs.push(tookMs);
    log(`another replica leads after ${tookMs} ms`);
    if (tookMs > FAILOVER_MS) broken.push(`another replica led only after ${tookMs} ms`);
  };
  const add = async (): Promise<void> => {
    const { name } = await market.add();
    added.push(name);
    log(`${name} is up`);
  };
  const count = 2 * kills;
  let next = 0;
  /** Changes run one after another, because a start may take longer than the requests between two changes. */
  let last: Promise<void> = Promise.resolve();
  let ended = 0;
  return {
    killed,
    added,
    failoverMs,
    areOver: () => ended === count,
    due(sent: number): Promise<void>[] {
      const started: Promise<void>[] = [];
      // In equal distances.
      for (; next < count && sent >= Math.floor((requests * (next + 1)) / (count + 1)); next += 1)
        started.push((last = last.then(next % 2 === 0 ? kill : add).finally(() => (ended += 1))));
      return started;
    },
  };
}
