import { slowAnswer, slowTask } from '@agent-rental/test/support/agents/slow-agents';

/** A task of a client's user, and the expected outcome. */
export interface Scenario {
  readonly name: string;
  readonly task: string;
  /** In addition to `agent_id` and `task`. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** The renter's balance, in runs. */
  readonly paidRuns: number;
  /** The client's output must match this. */
  readonly answer: RegExp;
  readonly charges: number;
  readonly timeoutMs: number;
}

const slow = (seconds: number): Scenario => ({
  name: `${seconds} s`,
  task: slowTask(seconds * 1_000, `slow ${seconds}`),
  paidRuns: 10,
  answer: new RegExp(slowAnswer(`slow ${seconds}`)),
  charges: 1,
  timeoutMs: (seconds + 90) * 1_000,
});

/** All scenarios. */
export const SCENARIOS: readonly Scenario[] = [
  slow(2),
  slow(20),
  slow(60),
  {
    name: 'empty balance',
    task: slowTask(10, 'empty'),
    paidRuns: 0,
    answer: /insufficient_balance/,
    charges: 0,
    timeoutMs: 120_000,
  },
  {
    name: 'agent that fails',
    task: '<refuse>',
    paidRuns: 10,
    answer: /service_unavailable/,
    charges: 0,
    timeoutMs: 120_000,
  },
  {
    name: 'null and more arguments',
    task: slowTask(10, 'null'),
    args: { input: null, input_uri: null, toolCallId: 'call-1' },
    paidRuns: 10,
    answer: new RegExp(slowAnswer('null')),
    charges: 1,
    timeoutMs: 120_000,
  },
];
