import type { Misbehaviour, RpcCall } from '../proxies/rpc-proxy.js';

/** A late endpoint's longest delay, in milliseconds. */
const LATE_MS = 700;
/** How long an endpoint collects answers before it sends them in reverse order, in milliseconds. */
const COLLECT_MS = 60;
/** Polls that get no status, or a wrong one. */
const WRONG_POLLS = 4;
const LAG_BLOCKS = 60;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const answerTo = ({ body }: RpcCall, result: unknown) => ({
  text: JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(body) as { id: unknown }).id, result }),
});
const resultOf = async (call: RpcCall) => (JSON.parse(await call.ask()) as { result: unknown }).result;

/** A signature's status in the RPC's answer. */
type Status = { slot: number; err: unknown; confirmationStatus: string } | null;

/**
 * Misbehaviours of an RPC endpoint. Each function makes a new misbehaviour for a group of runs. The server uses no websocket, so
 * none of these loses one.
 */
export const MISBEHAVIOURS: Readonly<Record<string, () => Misbehaviour>> = {
  'answers late': () => {
    let calls = 0;
    return async (call) => {
      calls += 1;
      await wait((calls * 211) % LATE_MS);
      return { text: await call.ask() };
    };
  },
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
    return async (call) => {
      if (call.method !== 'sendTransaction' || sent.has(call.params[0])) return { text: await call.ask() };
      sent.add(call.params[0]);
      // A signature, as if the endpoint had taken the transaction.
      return answerTo(call, '1'.repeat(88));
    };
  },
  'refuses each transaction but forwards it': () => async (call) => {
    const text = await call.ask();
    if (call.method !== 'sendTransaction') return { text };
    const id = (JSON.parse(call.body) as { id: unknown }).id;
    return {
      text: JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32005, message: 'Node is behind' } }),
    };
  },
  'reports a failure for a landed transaction': () => {
    const polls = new Map<string, number>();
    return async (call) => {
      if (call.method !== 'getSignatureStatuses') return { text: await call.ask() };
      const { context, value } = (await resultOf(call)) as { context: unknown; value: Status[] };
      const signatures = call.params[0] as string[];
      const lies = value.map((status, index): Status => {
        const signature = signatures[index] ?? '';
        const seen = (polls.get(signature) ?? 0) + 1;
        polls.set(signature, seen);
        if (status === null || seen > WRONG_POLLS) return status;
        return {
          ...status,
          err: { InstructionError: [1, { Custom: 6003 }] },
          confirmationStatus: 'confirmed',
        };
      });
      return answerTo(call, { context, value: lies });
    };
  },
  'lags behind': () => {
    const polls = new Map<string, number>();
    return async (call) => {
      if (call.method === 'getBlockHeight') return answerTo(call, Number(await resultOf(call)) - LAG_BLOCKS);
      if (call.method !== 'getSignatureStatuses') return { text: await call.ask() };
      const key = JSON.stringify(call.params[0]);
      const seen = (polls.get(key) ?? 0) + 1;
      polls.set(key, seen);
      const result = (await resultOf(call)) as { value: Status[] };
      return answerTo(call, seen > WRONG_POLLS ? result : { ...result, value: result.value.map(() => null) });
    };
  },
  'returns accounts of an old slot': () => {
    const first = new Map<string, unknown>();
    return async (call) => {
      if (call.method !== 'getMultipleAccounts') return { text: await call.ask() };
      const key = JSON.stringify(call.params);
      if (!first.has(key)) first.set(key, await resultOf(call));
      return answerTo(call, first.get(key));
    };
  },
  'returns an old blockhash': () => {
    let first: unknown;
    return async (call) => {
      if (call.method !== 'getLatestBlockhash') return { text: await call.ask() };
      first ??= await resultOf(call);
      return answerTo(call, first);
    };
  },
  'answers every other call with 429': () => {
    let calls = 0;
    return async (call) => {
      calls += 1;
      return calls % 2 === 0 ? { status: 429, text: 'Too many requests' } : { text: await call.ask() };
    };
  },
  'answers half a body to every third call': () => {
    let calls = 0;
    return async (call) => {
      calls += 1;
      const text = await call.ask();
      return calls % 3 === 0 ? { text, cutAt: Math.floor(text.length / 2) } : { text };
    };
  },
  'breaks every third connection after the call was carried out': () => {
    let calls = 0;
    return async (call) => {
      calls += 1;
      const text = await call.ask();
      return calls % 3 === 0 ? undefined : { text };
    };
  },
};
