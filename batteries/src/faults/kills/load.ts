import { randomUUID } from 'node:crypto';
import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';
import type { Random } from '@agent-rental/test/support/random';
import { openRawMcpSession, type RawMcpSession } from '@agent-rental/test/support/raw-mcp-session';
import type { Rental } from '@agent-rental/test/support/agents/market-agents';
import type { AgentKind } from '@agent-rental/test/support/agents/market-agents';
import { rentOne, type OnSale, type RentalModel } from './agents-on-sale.js';
import { beforeAskingAgain, type Answers } from './answers.js';
import type { Stack } from './stacks/stack.js';

/** How a renter asks. */
type Way = 'http' | 'stream' | 'mcp';

/** Who is there while a part is killed: each asks for one run after the other, and again until it has the answer. */
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

/** Agents work for less than this. */
const MOST_WORK_MS = 250;
/** A run that is asked for again so long has no end that its caller can learn. */
const MOST_ASKING_MS = 180_000;
const RUN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** A renter and what it was answered. */
export interface LoadedRenter {
  readonly name: string;
  readonly model: RentalModel;
  readonly rental: Rental;
  /** Runs whose output it has, and what it was told that they cost. MCP tells no cost here. */
  readonly answers: { readonly costLamports: bigint | undefined }[];
  /** Runs that ended without an output. */
  failed: number;
  longestWaitMs: number;
}

/** Renters that work a marketplace. */
export interface Load {
  readonly renters: readonly LoadedRenter[];
  /** Runs that no answer came of, and answers that no caller can do anything with. */
  readonly lost: string[];
  /** Resolves when each renter has had so many answers more. */
  more(answers: number): Promise<void>;
  /** Begins no further run; resolves when each has its answer. */
  stop(): Promise<void>;
}

/** Makes the wallets, rents, and begins. */
export async function startLoad(
  stack: Stack,
  onSale: OnSale,
  answers: Answers,
  random: Random,
): Promise<Load> {
  const renters = await Promise.all(
    RENTERS.map(async ([way, kind, model]) => ({
      way,
      name: `${way} ${kind} ${model}`,
      model,
      rental: await rentOne(stack, onSale[kind][model], model),
      answers: [],
      failed: 0,
      longestWaitMs: 0,
    })),
  );
  const lost: string[] = [];
  const stopping = new AbortController();
  let onAnswer = (): void => undefined;
  const workers = renters.map(async (renter) => {
    const ask =
      renter.way === 'mcp' ? mcpAsker(stack, renter, answers) : httpAsker(stack, renter, answers, renter.way);
    while (!stopping.signal.aborted) {
      const begunAt = performance.now();
      const problem = await ask(random.below(MOST_WORK_MS), randomUUID()).catch(String);
      if (problem !== undefined) lost.push(`${renter.name}: ${problem}`);
      renter.longestWaitMs = Math.max(renter.longestWaitMs, performance.now() - begunAt);
      onAnswer();
    }
  });
  return {
    renters,
    lost,
    async more(count) {
      const wanted = renters.map((renter) => endsOf(renter) + count);
      while (renters.some((renter, index) => endsOf(renter) < (wanted[index] ?? 0)) && lost.length === 0) {
        await new Promise<void>((resolve) => (onAnswer = resolve));
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

const endsOf = ({ answers, failed }: LoadedRenter) => answers.length + failed;

/** Asks for one run until it has ended; gives what is wrong, if anything is. */
type Asker = (workMs: number, name: string) => Promise<string | undefined>;

function httpAsker(stack: Stack, renter: LoadedRenter, answers: Answers, way: 'http' | 'stream'): Asker {
  const { rental } = renter;
  return async (workMs, name) => {
    const deadline = performance.now() + MOST_ASKING_MS;
    const request = {
      method: 'POST',
      headers: {
        authorization: `Bearer ${rental.renter.token}`,
        'content-type': 'application/json',
        'idempotency-key': name,
      },
      body: JSON.stringify({ agent_id: rental.listing.id, task: slowTask(workMs, name) }),
    };
    let last = '';
    for (; performance.now() < deadline; await beforeAskingAgain()) {
      // A stream that was cut off is asked for again without one.
      const path = way === 'stream' && last === '' ? '/v1/execute/stream' : '/v1/execute';
      const response = await answers.fetch(stack.dev.base_url + path, request).catch(() => undefined);
      last = 'the connection broke';
      if (response === undefined) continue;
      const text = await response.text();
      last = `${response.status} ${text.slice(0, 300)}`;
      if (response.status === 429 || response.status === 503) continue;
      if (response.status !== 200) return `answered ${last}`;
      const body = bodyOf(text);
      // The stream ended without its last event, or says that the run could not be served.
      if (body === undefined || body.error?.code === 'service_unavailable') continue;
      if (body.error?.code === 'internal_error') return `a stream ended with ${last}`;
      if (body.status !== 'completed') renter.failed += 1;
      else if (body.output !== slowAnswer(name)) return `got another output: ${last}`;
      else renter.answers.push({ costLamports: BigInt(body.cost_lamports) });
      return undefined;
    }
    return `no answer in the end, at last ${last}`;
  };
}

interface RunBody {
  status: string;
  output?: unknown;
  /** Of a stream. */
  error?: { code: string };
  cost_lamports: number;
}

/** The run of an answer in JSON, or of the last event of a stream. */
function bodyOf(text: string): RunBody | undefined {
  const json = text.startsWith('{') ? text : /event: done\ndata: (.*)\n/.exec(text)?.[1];
  return json === undefined ? undefined : (JSON.parse(json) as RunBody);
}

function mcpAsker(stack: Stack, renter: LoadedRenter, answers: Answers): Asker {
  const { token } = renter.rental.renter;
  let session: RawMcpSession | undefined;
  return async (workMs, name) => {
    const deadline = performance.now() + MOST_ASKING_MS;
    const run = {
      tool: 'run_agent',
      args: { agent_id: renter.rental.listing.id, task: slowTask(workMs, name) } as object,
    };
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
      const runId = told === undefined ? undefined : RUN_ID.exec(told)?.[0];
      const isRunning = told?.includes('is still running') === true && runId !== undefined;
      next = isRunning ? { tool: 'get_run', args: { run_id: runId } } : run;
    }
    return `no answer in the end, at last ${last}`;
  };
}
