import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';

/** A task of a client's user, and the expected outcome. */
export interface Scenario {
  readonly name: string;
  readonly task: string;
  /** In addition to `agent_id` and `task`. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The renter's balance, in runs. */
  readonly paidRuns: number;
  readonly answer: RegExp;
  readonly charges: number;
  readonly timeoutMs: number;
}

const paid = { paidRuns: 10, charges: 1, timeoutMs: 120_000 } as const;
const refused = { ...paid, charges: 0 } as const;

const slow = (seconds: number): Scenario => ({
  ...paid,
  name: `${seconds} s`,
  task: slowTask(seconds * 1_000, `slow ${seconds}`),
  answer: new RegExp(slowAnswer(`slow ${seconds}`)),
  timeoutMs: (seconds + 90) * 1_000,
});
const EMPTY = slowTask(10, 'empty');

export const SCENARIOS: readonly Scenario[] = [
  slow(2),
  slow(20),
  slow(60),
  { ...refused, name: 'empty balance', task: EMPTY, paidRuns: 0, answer: /insufficient_balance/ },
  { ...refused, name: 'agent that fails', task: '<refuse>', answer: /service_unavailable/ },
  {
    ...paid,
    name: 'null and more arguments',
    task: slowTask(10, 'null'),
    args: { input: null, input_uri: null, toolCallId: 'call-1' },
    answer: new RegExp(slowAnswer('null')),
  },
];
