import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startSlowAgents, type SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { Random } from '@agent-rental/test/support/random';
import { newRenter } from '@agent-rental/test/support/renter';
import { WITHOUT_LIMITS } from '@agent-rental/test/support/without-limits';
import { putOnSale, rentOne, type OnSale } from './agents-on-sale.js';
import { Answers } from './answers.js';
import { openEmbeddedStack } from './stacks/embedded-stack.js';
import { leftBehind, leftRunning, processesOf, takeInventory } from './leftovers.js';
import { auditLimit, REQUESTS_PER_MINUTE, watchLimits } from './limits.js';
import { startLoad } from './load.js';
import { auditMoney, EARNINGS, type Audited } from './money.js';
import { openProductionStack } from './stacks/production-stack.js';
import type { Log } from '../../run-battery.js';
import { watchRecovery } from './recovery.js';
import type { Part, Stack, StackName } from './stacks/stack.js';

export const STEPS = ['parse', 'admit', 'slot', 'check', 'charge', 'run', 'deliver'] as const;

/** One kill: the part, and the step of a run at which it is killed. */
export interface Cell {
  readonly part: Part;
  readonly step: (typeof STEPS)[number];
}

export type CellReport = Awaited<ReturnType<typeof playCell>>['report'];

interface KillOptions {
  readonly stack: StackName;
  readonly cells: readonly Cell[];
  readonly seed: number;
  /** The service must work again within this time after a kill. */
  readonly backWithinMs: number;
  readonly log: Log;
}

/** Long enough for at most five kills in a minute. A server abandons a part after more than five crashes in a minute. */
const BETWEEN_KILLS_MS = 13_000;
/** The most runs that start the step before the kill. */
const MOST_BEFORE = 10;
/** The longest delay of a kill after the start of its step. Most steps end within this time. */
const MOST_DELAY_MS = 30;

const ENVIRONMENT = { ...WITHOUT_LIMITS, RATE_LIMIT_PER_MINUTE: String(REQUESTS_PER_MINUTE) };

/** Kills parts of one stack under load, one cell after another, and compares all money at the end. */
export async function runKills(options: KillOptions): Promise<CellReport[]> {
  const { stack: name, cells, seed, log } = options;
  const random = new Random(seed);
  const agents = await startSlowAgents();
  const stack = await openStack(name, agents);
  try {
    const onSale = await putOnSale(stack, agents);
    const treasuryBefore = await stack.connection.getBalance(stack.treasury);
    const reports: CellReport[] = [];
    const audited: Audited[] = [];
    const lastKills = new Map<Part, number>();
    for (const [index, cell] of cells.entries()) {
      const nextKillAt = (lastKills.get(cell.part) ?? Number.NEGATIVE_INFINITY) + BETWEEN_KILLS_MS;
      await delay(Math.max(0, nextKillAt - performance.now()));
      const { report, killedAt, ...played } = await playCell(stack, onSale, cell, random, options);
      lastKills.set(cell.part, killedAt);
      reports.push(report);
      audited.push({ ...played.audited, name: nameOf(cell, index) });
      const { wrong, answers: _, ...figures } = report;
      log([JSON.stringify(figures), ...wrong].join('\n  '));
    }
    const wrong = await auditMoney(stack, audited, treasuryBefore);
    log(`${name}: the money of ${audited.length} cells is compared`);
    for (const [index, report] of reports.entries())
      report.wrong.push(...(wrong.get(nameOf(report, index)) ?? []));
    reports.at(-1)?.wrong.push(...(wrong.get(EARNINGS) ?? []).map((text) => `after all cells, ${text}`));
    return reports;
  } catch (error) {
    throw new Error(`The battery broke; the server said:\n${stack.server.output()}`, { cause: error });
  } finally {
    await stack.close();
    await agents.close();
  }
}

/** A name for one cell. The index distinguishes kills of the same part at the same step. */
const nameOf = ({ part, step }: Cell, index: number) => `${index}: ${part} at ${step}`;

async function openStack(name: StackName, { agentUrl, modelUrl }: SlowAgents): Promise<Stack> {
  if (name === 'production') return openProductionStack(ENVIRONMENT, new URL(agentUrl).origin);
  return openEmbeddedStack({
    ...ENVIRONMENT,
    MODEL_BASE_URL: modelUrl,
    MODEL_NAME: 'stand-in',
    // Set here, because the server allows the examples' origins only after their start.
    ALLOW_LOOPBACK: new URL(agentUrl).origin,
  });
}

async function playCell(
  stack: Stack,
  onSale: OnSale,
  cell: Cell,
  random: Random,
  { backWithinMs }: KillOptions,
) {
  const { part, step } = cell;
  const answers = new Answers();
  answers.mayBreak = part === 'server';
  const { connected, declarative } = onSale;
  const probed = [connected.per_query, connected.per_query, declarative.per_query];
  const probers = await Promise.all(probed.map((listing) => rentOne(stack, listing, 'per_query')));
  const watcher = part === 'redis' ? await newRenter(stack) : undefined;
  const before = await takeInventory(stack);
  const [exits, pid] = [stack.server.exits, stack.server.pid];
  const load = await startLoad(stack, onSale, answers, random);
  await load.more(1);

  const doomed = await processesOf(stack, part);
  // A kill at the start of the step, or a little later.
  const [after, delayMs] = [random.below(MOST_BEFORE), random.chance(50) ? 0 : random.below(MOST_DELAY_MS)];
  await stack.server.killAtStep({ step, after, delayMs, pid: await stack.pidOf(part) });
  const killedAt = performance.now();
  const [running, limits, recovered] = await Promise.all([
    leftRunning(doomed, killedAt),
    watcher ? watchLimits(stack, watcher.token) : [],
    watchRecovery(stack, probers, answers, killedAt),
  ]);
  const backMs = Math.max(recovered.readyMs, recovered.runMs);
  await load.more(1);
  await load.stop();
  const wrong = [...running, ...limits, ...answers.wrong, ...load.lost, ...(await leftBehind(stack, before))];
  if (part === 'redis') wrong.push(...(await auditLimit(stack)));
  if (backMs > backWithinMs)
    wrong.push(`back after ${backMs} ms; the last run failed ${recovered.lastFailure}`);
  const hasEnded = stack.server.exits - exits;
  if (hasEnded !== (part === 'server' ? 1 : 0)) wrong.push(`the server ended ${hasEnded} times`);
  if (part !== 'server' && stack.server.pid !== pid) wrong.push('the server has another process');
  return {
    report: {
      stack: stack.name,
      part,
      step,
      delayMs,
      /** From the kill until `/ready` and new runs worked without further failures, and `/ready` alone. */
      backMs,
      readyMs: recovered.readyMs,
      /** Including all retries of an answer. */
      longestWaitMs: Math.round(Math.max(...load.renters.map(({ longestWaitMs }) => longestWaitMs))),
      answers: answers.counts,
      runs: load.renters.reduce((sum, renter) => sum + renter.answers.length + renter.failed, 0),
      /** Times mean little when it exceeds the number of processors by far. */
      loadAverage: Math.round((loadavg()[0] ?? 0) * 10) / 10,
      wrong: distinct(wrong),
    },
    killedAt,
    audited: { part, renters: load.renters, others: probers },
  };
}

function distinct(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`));
}
