import { randomUUID } from 'node:crypto';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Random } from '@agent-rental/test/support/random';
import { openRawMcpSession, type RawMcpSession } from '@agent-rental/test/support/raw-mcp-session';
import type { AgentKind, Rental } from '@agent-rental/test/support/agents/market-agents';
import { jsonOf, pollOf, type ToolCall } from '../../run-answers.js';
import { rentOne, type OnSale, type RentalModel } from './agents-on-sale.js';
import { beforeAskingAgain, type Answers } from './answers.js';
import type { Stack } from './stacks/stack.js';

type Way = 'http' | 'stream' | 'mcp';

/** The renters of the load. Each asks for one run after another, and retries each until it has the answer. */
const RENTERS: readonly (readonly [Way, AgentKind, RentalModel])[] = [
  ['http', 'connected', 'per_query'],
  ['http', 'connected', 'per_query'],
  ['http', 'declarative', 'per_query'],
  ['http', 'declarative', 'per_query'],
  ['stream', 'connected', 'per_query'],
  ['stream', 'declarative', 'per_query'],
  ['mcp', 'connected', 'per_query'],
  ['mcp', 'declarative', 'per_query'],
  ['http', 'connected', 'one_time'],
  ['mcp', 'declarative', 'one_time'],
];

const MOST_WORK_MS = 250;
/** A run without an answer after this time counts as lost. */
const MOST_ASKING_MS = 180_000;

export interface LoadedRenter {
  readonly name: string;
  readonly model: RentalModel;
  readonly rental: Rental;
  /** Delivered runs and their reported costs. MCP reports no cost here. */
  readonly answers: { readonly costLamports: bigint | undefined }[];
  failed: number;
  longestWaitMs: number;
}

export async function startLoad(stack: Stack, onSale: OnSale, answers: Answers, random: Random) {
  const renters = await Promise.all(
    RENTERS.map(async ([way, kind, model]): Promise<LoadedRenter> => ({
      name: `${way} ${kind} ${model}`,
      model,
      rental: await rentOne(stack, onSale[kind][model], model),
      answers: [],
      failed: 0,
      longestWaitMs: 0,
    })),
  );
  /** Runs without an answer, and answers that a caller cannot use. */
  const lost: string[] = [];
  const stopping = new AbortController();
  let onAnswer = (): void => undefined;
  const workers = renters.map(async (renter, index) => {
    const [way = 'http'] = RENTERS[index] ?? [];
    const ask = way === 'mcp' ? mcpAsker(stack, renter, answers) : httpAsker(stack, renter, answers, way);
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const problem = await ask(random.below(MOST_WORK_MS), randomUUID()).catch(String);
      if (problem !== undefined) lost.push(`${renter.name}: ${problem}`);
      renter.longestWaitMs = Math.max(renter.longestWaitMs, performance.now() - startedAt);
      onAnswer();
    }
  });
  return {
    renters,
    lost,
    /** Resolves when each renter has got this many further answers. */
    async more(count: number) {
      const wanted = renters.map((renter) => endsOf(renter) + count);
      while (renters.some((renter, index) => endsOf(renter) < (wanted[index] ?? 0)) && lost.length === 0) {
        await new Promise<void>((resolve) => (onAnswer = resolve));
      }
    },
    /** Starts no further runs, and resolves when each run has its answer. */
    async stop() {
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

const endsOf = ({ answers, failed }: LoadedRenter) => answers.length + failed;

/** Asks for one run until it has ended. @returns the fault, if there is one. */
type Asker = (workMs: number, name: string) => Promise<string | undefined>;

function httpAsker(stack: Stack, renter: LoadedRenter, answers: Answers, way: 'http' | 'stream'): Asker {
  const { rental } = renter;
  return async (workMs, name) => {
    const deadline = performance.now() + MOST_ASKING_MS;
    const authorization = `Bearer ${rental.renter.token}`;
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': name };
    const body = JSON.stringify({ agent_id: rental.listing.id, task: slowTask(workMs, name) });
    const request = { method: 'POST', headers, body };
    let last = '';
    for (; performance.now() < deadline; await beforeAskingAgain()) {
      // The retry of a broken stream uses no stream.
      const path = way === 'stream' && last === '' ? '/v1/execute/stream' : '/v1/execute';
      const response = await answers.fetch(stack.dev.base_url + path, request).catch(() => undefined);
      last = 'the connection broke';
      if (response === undefined) continue;
      const text = await response.text();
      last = `${response.status} ${text.slice(0, 300)}`;
      if (response.status === 429 || response.status === 503) continue;
      if (response.status !== 200) return `answered ${last}`;
      const run = jsonOf(text) as RunBody | undefined;
      // The stream ended without its last event, or with a service failure.
      if (run === undefined || run.error?.code === 'service_unavailable') continue;
      if (run.error?.code === 'internal_error') return `a stream ended with ${last}`;
      if (run.status !== 'completed') renter.failed += 1;
      else if (run.output !== slowAnswer(name)) return `got another output: ${last}`;
      else renter.answers.push({ costLamports: BigInt(run.cost_lamports) });
      return undefined;
    }
    return `no answer, at last ${last}`;
  };
}

interface RunBody {
  status: string;
  output?: unknown;
  /** In a stream's last event. */
  error?: { code: string };
  cost_lamports: number;
}

function mcpAsker(stack: Stack, renter: LoadedRenter, answers: Answers): Asker {
  const { token } = renter.rental.renter;
  let session: RawMcpSession | undefined;
  return async (workMs, name) => {
    const deadline = performance.now() + MOST_ASKING_MS;
    const args = { agent_id: renter.rental.listing.id, task: slowTask(workMs, name) };
    const run: ToolCall = { tool: 'run_agent', args };
    let next = run;
    let last = '';
    for (; performance.now() < deadline; await beforeAskingAgain()) {
      const told = await (async () => {
        session ??= await openRawMcpSession(`${stack.dev.base_url}/mcp`, token, answers.fetch);
        return session.call(next.tool, next.args);
      })().catch(() => undefined);
      last = told ?? 'nothing';
      if (told?.includes(slowAnswer(name)) === true) {
        renter.answers.push({ costLamports: undefined });
        return undefined;
      }
      next = pollOf(told) ?? run;
    }
    return `no answer, at last ${last}`;
  };
}
