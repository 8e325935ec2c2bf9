import { expect, it } from 'vitest';
import type { Receipt, RunState } from '@agent-rental/contract';
import { stepsOf } from './run-steps.js';

const STARTED_AT = '2026-01-05T10:00:00.000Z';
const FINISHED_AT = '2026-01-05T10:00:03.000Z';
const RUN = { run_id: 'r', agent_id: 'clerk-aaaaaa', started_at: STARTED_AT } as const;
const ended = (facts: object) =>
  ({
    ...RUN,
    status: 'failed',
    output: 'No.',
    cost_lamports: 0,
    duration_ms: 5,
    ...facts,
  }) as RunState;

it.each([
  [{ ...RUN, status: 'running' }, ['done Taken on', 'now It runs']],
  [
    { ...RUN, status: 'running', step: 'queued' },
    ['done Taken on', 'now It waits: all places of the agent are taken'],
  ],
  [{ ...RUN, status: 'running', step: 'charged' }, ['done Taken on', 'done Charged', 'now The agent works']],
  [
    ended({ status: 'completed', cost_lamports: 250_000 }),
    ['done Taken on', 'done Charged 0.00025 SOL', 'done Completed'],
  ],
  [ended({}), ['done Taken on', 'bad Failed']],
  [ended({ stop_reason: 'cancelled' }), ['done Taken on', 'bad Cancelled']],
  [ended({ error: { code: 'service_unavailable' } }), ['done Taken on', 'bad Not served']],
] as [RunState, string[]][])(
  'shows the steps that the service has told of %j, and no more [SVC-23]',
  (state, steps) => {
    expect(stepsOf(state).map(({ state: mark, words }) => `${mark} ${words}`)).toEqual(steps);
    const shown = stepsOf(state, { started_at: STARTED_AT, finished_at: FINISHED_AT } as Receipt);
    expect(shown[0]?.at).toBe(STARTED_AT);
    expect(shown.at(-1)?.at).toBe(state.status === 'running' ? undefined : FINISHED_AT);
  },
);
