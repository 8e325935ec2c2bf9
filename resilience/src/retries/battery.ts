import { setTimeout as delay } from 'node:timers/promises';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import { Random } from '@agent-rental/test/support/random';
import { openRawMcpSession, type GivingUp } from '@agent-rental/test/support/raw-mcp-session';
import { pollOf, type ToolCall } from '../run-answers.js';
import type { Log } from '../run-battery.js';
import { openMarket, type Market, type Renter } from './slow-market.js';

/** The shortest default timeout of a known client. */
const CLIENT_TIMEOUT_MS = 5_000;
const MAX_TRIES = 30;
/** Concurrent renters of one agent: each may have two of the agent's 20 concurrent runs. */
const RENTERS_OF_AGENT = 8;
/** The longest time from the end of the agent's work to a cut, so that a cut may hit the answer. */
const CUT_AFTER_END_MS = 200;

interface RetryOptions {
  readonly calls: number;
  readonly pairs: number;
  /** Calls or pairs of one renter, one after another. */
  readonly each: number;
  readonly concurrency: number;
  readonly seed: number;
  readonly log: Log;
}

/**
 * Calls agents over MCP, gives up at random moments, and repeats each call until an answer. It gives up by a cut connection or an
 * unread answer. Then it makes pairs of equal calls at once. The marketplace is right if the chain has one charge for each call
 * and one for each pair.
 */
export async function runRetryBattery({ calls, pairs, each, concurrency, seed, log }: RetryOptions) {
  const random = new Random(seed);
  const market = await openMarket(Math.ceil(concurrency / RENTERS_OF_AGENT));
  /** Of the repeated calls: their requests, their charges, and calls without an answer. Then the charges of the pairs. */
  let [requests, callCharges, lost, pairCharges] = [0, 0, 0, 0];
  try {
    await inParallel(batches(calls, each), concurrency, async (count, index) => {
      const renter = await market.newRenter(2 * count);
      const trail: string[] = [];
      for (let call = 0; call < count; call += 1) {
        const tries = await callUntilAnswered(market, renter, `call ${index}-${call}`, {
          random,
          // Each renter uses both ways.
          isCut: (index + call) % 2 === 0,
          note: (line) => trail.push(`${new Date().toISOString()} ${line}`),
        });
        requests += tries;
        if (tries > MAX_TRIES) lost += 1;
      }
      const charged = chargesOf(await renter.costs());
      callCharges += charged;
      log(`renter ${index}: ${count} calls, ${charged} charges`);
      if (charged !== count) log([...trail, ...(await renter.times())].toSorted().join('\n'));
    });
    await inParallel(batches(pairs, each), concurrency, async (count, index) => {
      const renter = await market.newRenter(2 * count);
      const session = await openRawMcpSession(market.mcpUrl, renter.token);
      for (let pair = 0; pair < count; pair += 1) {
        const args = { agent_id: renter.agentId, task: slowTask(random.below(300), `pair ${index}-${pair}`) };
        await Promise.all([session.call('run_agent', args), session.call('run_agent', args)]);
      }
      const charged = chargesOf(await renter.costs());
      pairCharges += charged;
      log(`renter ${index}: ${count} pairs, ${charged} charges`);
    });
  } finally {
    await market.stop();
  }
  const isRight = callCharges === calls && lost === 0 && pairCharges === pairs;
  return { seed, calls, requests, callCharges, lost, pairs, pairCharges, isRight };
}

/**
 * Gives up a few times and repeats.
 *
 * @param isCut whether it cuts its connection. Otherwise it does not read its answer.
 * @returns the number of requests; more than `MAX_TRIES` without an answer.
 */
async function callUntilAnswered(
  market: Market,
  { token, agentId }: Renter,
  name: string,
  { random, isCut, note }: { random: Random; isCut: boolean; note: Log },
): Promise<number> {
  const session = await openRawMcpSession(market.mcpUrl, token);
  const agentMs = isCut ? 100 + random.below(3_000) : CLIENT_TIMEOUT_MS + 500 + random.below(3_000);
  const args = { agent_id: agentId, task: slowTask(agentMs, name) };
  let next: ToolCall = { tool: 'run_agent', args };
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    // After three tries the connection is not cut.
    let givingUp: GivingUp | undefined;
    if (!isCut) givingUp = { how: 'ignore', afterMs: CLIENT_TIMEOUT_MS };
    else if (tries <= 3) givingUp = { how: 'cut', afterMs: random.below(agentMs + CUT_AFTER_END_MS) };
    const how = `${givingUp?.how ?? 'reads'} ${givingUp?.afterMs ?? ''}`;
    note(`${name}: ${next.tool}, agent ${agentMs} ms, ${how}`);
    const told = await session.call(next.tool, next.args, givingUp).catch(() => undefined);
    note(`${name}: ${told === undefined ? 'no answer' : `told ${told.length} characters`}`);
    if (told?.includes(slowAnswer(name)) === true) return tries;
    next = pollOf(told) ?? next;
    await delay(random.below(1_000));
  }
  return MAX_TRIES + 1;
}

const chargesOf = (costs: readonly number[]) => costs.filter((cost) => cost > 0).length;

const batches = (total: number, each: number) =>
  Array.from({ length: Math.ceil(total / each) }, (_, index) => Math.min(each, total - index * each));
