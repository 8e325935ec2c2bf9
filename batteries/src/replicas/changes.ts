import type { Random } from '@agent-rental/test/support/random';
import type { Replica } from '@agent-rental/test/support/replicas/replica';
import type { ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';
import { leadersOf, takeOver } from './metrics.js';

/** Within this time another replica leads. */
const FAILOVER_MS = 5_000;
/** Requests between two crowds, and between two bursts. */
const CROWD_EVERY = 900;
const BURST_EVERY = 700;

/** Gives what is due after so many requests: crowds and bursts. */
export function eventsOf(
  requests: number,
  events: { crowd(): Promise<unknown>; burst(index: number): Promise<unknown> },
): (sent: number) => Promise<unknown>[] {
  const every = {
    crowd: Math.min(CROWD_EVERY, Math.floor(requests / 3)),
    burst: Math.min(BURST_EVERY, Math.floor(requests / 4)),
  };
  const next = { crowd: Math.floor(every.crowd / 2), burst: Math.floor(every.burst / 2) };
  let bursts = 0;
  return (sent) => {
    const begun: Promise<unknown>[] = [];
    if (sent >= next.crowd) {
      next.crowd += every.crowd;
      begun.push(events.crowd());
    }
    if (sent >= next.burst) {
      next.burst += every.burst;
      begun.push(events.burst(bursts++));
    }
    return begun;
  };
}

/** Kills replicas and adds new ones, in turns, none at the start or the end. */
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
    // The first one leads; a later one is whichever.
    const isLeader = killed.length === 0;
    const victim = isLeader ? leaders[0] : random.pick(market.running);
    if (victim === undefined) {
      broken.push('no replica leads');
      return;
    }
    log(`killing ${victim.name}${leaders.includes(victim) ? ', which leads' : ''}`);
    killed.push(victim.name);
    const began = performance.now();
    await victim.kill();
    if (!leaders.includes(victim)) return;
    await takeOver(() => market.running);
    const tookMs = Math.round(performance.now() - began);
    failoverMs.push(tookMs);
    log(`another replica leads after ${tookMs} ms`);
    if (tookMs > FAILOVER_MS) broken.push(`another replica led only after ${tookMs} ms`);
  };
  const add = async (): Promise<void> => {
    const replica: Replica = await market.add();
    added.push(replica.name);
    log(`${replica.name} is up`);
  };
  const changes = Array.from({ length: kills }, () => [kill, add] as const).flat();
  /** Equal parts before, between and after them. */
  const at = changes.map((_, index) => Math.floor((requests * (index + 1)) / (changes.length + 1)));
  let next = 0;
  /** One after the other: a start takes longer than the requests of a short run. */
  let last: Promise<void> = Promise.resolve();
  let ended = 0;
  return {
    killed,
    added,
    failoverMs,
    areOver: () => ended === changes.length,
    due(sent: number): Promise<void>[] {
      const begun: Promise<void>[] = [];
      while (next < changes.length && sent >= (at[next] ?? 0)) {
        const change = changes[next];
        next += 1;
        if (change) begun.push((last = last.then(change).finally(() => (ended += 1))));
      }
      return begun;
    },
  };
}
