import type { Misbehaviour, RpcCall } from '../proxies/rpc-proxy.js';

/** A late endpoint's longest delay, in milliseconds. */
const LATE_MS = 700;
/** How long an endpoint collects answers before it sends them in reverse order, in milliseconds. */
const COLLECT_MS = 60;
/** Polls that get no status, or a wrong one. */
const WRONG_POLLS = 4;
const LAG_BLOCKS = 60;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const answerTo = ({ body }: RpcCall, answer: { result: unknown } | { error: object }) => {
  const { id } = JSON.parse(body) as { id: unknown };
  return { text: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) };
};
const resultOf = async (call: RpcCall) => (JSON.parse(await call.ask()) as { result: unknown }).result;

/** Misbehaves at calls of one method, and passes all others. */
const at =
  (method: string, how: Misbehaviour): Misbehaviour =>
  async (call) =>
    call.method === method ? how(call) : { text: await call.ask() };

/** Gives a function the number of each call, from 1. */
const counting = (how: (call: RpcCall, count: number) => ReturnType<Misbehaviour>) => (): Misbehaviour => {
  let calls = 0;
  return (call) => how(call, (calls += 1));
};

/** Makes a function that counts the polls of each key. */
function pollCounter(): (key: string) => number {
  const polls = new Map<string, number>();
  return (key) => {
    const seen = (polls.get(key) ?? 0) + 1;
    polls.set(key, seen);
    return seen;
  };
}

type Status = { slot: number; err: unknown; confirmationStatus: string } | null;

/**
 * Misbehaviours of an RPC endpoint. Each function makes a new misbehaviour for a group of runs. The server uses no websocket, so
 * none of these loses one.
 */
export const MISBEHAVIOURS: Readonly<Record<string, () => Misbehaviour>> = {
  'answers late': counting(async (call, count) => {
    await wait((count * 211) % LATE_MS);
    return { text: await call.ask() };
  }),
  'does everything twice': () => async (call) => {
    await call.ask();
    return { text: await call.ask() };
  },
  'answers out of order': () => {
    let waiting: (() => void)[] = [];
    const answerAll = async () => {
      await wait(COLLECT_MS);
      const all = waiting.toReversed();
      waiting = [];
      for (const answer of all) answer();
    };
    return async (call) => {
      const text = await call.ask();
      await new Promise<void>((resolve) => {
        if (waiting.length === 0) void answerAll();
        waiting.push(resolve);
      });
      return { text };
    };
  },
  'forgets each transaction at its first send': () => {
    const sent = new Set<unknown>();
    return at('sendTransaction', async (call) => {
      if (sent.has(call.params[0])) return { text: await call.ask() };
      sent.add(call.params[0]);
      // A signature, as if the endpoint had taken the transaction.
      return answerTo(call, { result: '1'.repeat(88) });
    });
  },
  'refuses each transaction but forwards it': () =>
    at('sendTransaction', async (call) => {
      await call.ask();
      return answerTo(call, { error: { code: -32005, message: 'Node is behind' } });
    }),
  'reports a failure for a landed transaction': () => {
    const countOf = pollCounter();
    return at('getSignatureStatuses', async (call) => {
      const { context, value } = (await resultOf(call)) as { context: unknown; value: Status[] };
      const signatures = call.params[0] as string[];
      const lies = value.map((status, index): Status => {
        const seen = countOf(signatures[index] ?? '');
        if (status === null || seen > WRONG_POLLS) return status;
        const err = { InstructionError: [1, { Custom: 6003 }] };
        return { ...status, err, confirmationStatus: 'confirmed' };
      });
      return answerTo(call, { result: { context, value: lies } });
    });
  },
  'lags behind': () => {
    const countOf = pollCounter();
    const statuses = at('getSignatureStatuses', async (call) => {
      const result = (await resultOf(call)) as { value: Status[] };
      if (countOf(JSON.stringify(call.params[0])) > WRONG_POLLS) return answerTo(call, { result });
      return answerTo(call, { result: { ...result, value: result.value.map(() => null) } });
    });
    return async (call) => {
      if (call.method !== 'getBlockHeight') return statuses(call);
      return answerTo(call, { result: Number(await resultOf(call)) - LAG_BLOCKS });
    };
  },
  'returns accounts of an old slot': () => {
    const first = new Map<string, unknown>();
    return at('getMultipleAccounts', async (call) => {
      const key = JSON.stringify(call.params);
      if (!first.has(key)) first.set(key, await resultOf(call));
      return answerTo(call, { result: first.get(key) });
    });
  },
  'returns an old blockhash': () => {
    let first: unknown;
    return at('getLatestBlockhash', async (call) => {
      first ??= await resultOf(call);
      return answerTo(call, { result: first });
    });
  },
  'answers every other call with 429': counting(async (call, count) =>
    count % 2 === 0 ? { status: 429, text: 'Too many requests' } : { text: await call.ask() },
  ),
  'answers half a body to every third call': counting(async (call, count) => {
    const text = await call.ask();
    return count % 3 === 0 ? { text, cutAt: Math.floor(text.length / 2) } : { text };
  }),
  'breaks every third connection after the call was carried out': counting(async (call, count) => {
    const text = await call.ask();
    return count % 3 === 0 ? undefined : { text };
  }),
};
