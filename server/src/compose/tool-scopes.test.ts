import { runnerTools } from '@agent-rental/agent-runner';
import { TOOL_SCOPES } from '@agent-rental/contract';
import { expect, it } from 'vitest';

it('a manifest may name exactly the tools of the runner, under the same scopes', () => {
  const served = Object.values(runnerTools).map(({ name, scope }) => [name, scope]);
  expect(Object.fromEntries(served)).toEqual(TOOL_SCOPES);
});
