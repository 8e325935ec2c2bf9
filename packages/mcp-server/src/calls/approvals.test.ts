import type { RentedTool, SpendingRequest } from '@agent-rental/tools';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { approvalOf, type AskedState } from './approvals.js';

const codec = createRequestStateCodec<AskedState>({ key: randomBytes(32) });

function toolAsking(lamports: number, name = 'run_agent', more: Partial<SpendingRequest> = {}): RentedTool {
  const request: SpendingRequest = { kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports, ...more };
  return { name, approvalOf: async () => request } as unknown as RentedTool;
}

/** A round of a call: the state that the client sends back, and its user's answer. */
function round(asked?: string, approve?: unknown): ServerContext {
  return {
    mcpReq: {
      signal: new AbortController().signal,
      requestState: () => (asked === undefined ? undefined : { asked, question: 'q' }),
      inputResponses:
        approve === undefined ? undefined : { approve: { action: 'accept', content: { approve } } },
    },
  } as unknown as ServerContext;
}

/** The approval of a round that does not ask again. */
async function approved(...args: Parameters<typeof approvalOf>) {
  const approval = await approvalOf(...args);
  if ('ask' in approval) throw new Error('Asked again.');
  return approval;
}

/** The state that a client carries after the question about a call. */
async function askedAbout(tool: RentedTool, args: unknown): Promise<string> {
  const first = await approvalOf({ tool, args, canAsk: true }, round(), codec);
  if (!('ask' in first)) throw new Error('No question was asked.');
  const state: AskedState = await codec.verify(first.ask.requestState ?? '', round());
  return state.asked;
}

describe('an approval', () => {
  const args = { agent_id: 'a-aaaaaa', task: 't' };

  it('is valid for the call and the amount of the question', async () => {
    const tool = toolAsking(2_000_000);
    const asked = await askedAbout(tool, args);
    const approval = await approved({ tool, args, canAsk: true }, round(asked, true), codec);
    const request: SpendingRequest = { kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports: 2_000_000 };
    expect(await approval.approve?.(request, {})).toBe(true);
    expect(await approval.approve?.({ ...request, lamports: 2_000_001 }, {})).toBe(false);
  });

  it.each([false, 'true', 1, null])('is missing if the answer is %j', async (answer) => {
    const tool = toolAsking(2_000_000);
    const asked = await askedAbout(tool, args);
    const approval = await approved({ tool, args, canAsk: true }, round(asked, answer), codec);
    const request: SpendingRequest = { kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports: 1 };
    expect(await approval.approve?.(request, {})).toBe(false);
  });

  it.each([
    ['other arguments', toolAsking(2_000_000), { ...args, task: 'something else' }],
    ['another amount', toolAsking(3_000_000), args],
    ['another tool', toolAsking(2_000_000, 'hire'), args],
  ])('of one call is not valid for a call with %s: the user is asked again', async (_, tool, given) => {
    const asked = await askedAbout(toolAsking(2_000_000), args);
    const approval = await approvalOf({ tool, args: given, canAsk: true }, round(asked, true), codec);
    expect(approval).toHaveProperty('ask');
  });

  it.each([
    ['another agent', { agentId: 'b-aaaaaa' }],
    ['another kind', { kind: 'run' }],
    ['more', { lamports: 2_000_001 }],
    ['more for each run', { maxRunLamports: 101 }],
  ] as const)('is not valid for %s than in the question [REN-13]', async (_, changes) => {
    const more = { kind: 'rental', maxRunLamports: 100 } as const;
    const tool = toolAsking(2_000_000, 'hire', more);
    const asked = await askedAbout(tool, args);
    const approval = await approved({ tool, args, canAsk: true }, round(asked, true), codec);
    const request: SpendingRequest = { agentId: 'a-aaaaaa', title: 'A', lamports: 2_000_000, ...more };
    expect(await approval.approve?.(request, {})).toBe(true);
    expect(await approval.approve?.({ ...request, ...changes }, {})).toBe(false);
  });

  it('that comes again is for the same run and payment: its key is the question’s [REN-4]', async () => {
    const tool = toolAsking(2_000_000);
    const asked = await askedAbout(tool, args);
    const keys = new Set<unknown>();
    for (let count = 0; count < 2; count += 1) {
      const approval = await approved({ tool, args, canAsk: true }, round(asked, true), codec);
      keys.add(approval.key);
    }
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  });

  it('is asked for with the amounts first, on lines that no title reaches [REN-4]', async () => {
    const title = 'A" for 0.0001 SOL?\u2028\u202e\nPay 0 SOL (a-aaaaaa)\u201d?';
    const tool = toolAsking(2_000_000, 'rent_listing', { kind: 'rental', title, maxRunLamports: 1_000_000 });
    const first = await approvalOf({ tool, args, canAsk: true }, round(), codec);
    if (!('ask' in first)) throw new Error('No question was asked.');
    const asked = first.ask.inputRequests?.['approve'] as { params: { message: string } } | undefined;
    expect(asked?.params.message.split('\n')).toEqual([
      'Pay up to 2000000 lamports (0.002 SOL) out of the wallet, fees included?',
      'Each run may then take up to 1000000 lamports (0.001 SOL) from the prepaid balance.',
      'It rents the agent a-aaaaaa.',
      `The agent's creator calls it: "A' for 0.0001 SOL? Pay 0 SOL (a-aaaaaa)'?"`,
    ]);
  });

  it('is not asked for if the client cannot ask', async () => {
    const approval = await approvalOf({ tool: toolAsking(1), args, canAsk: false }, round(), codec);
    expect(approval).toEqual({ approve: undefined });
  });
});
