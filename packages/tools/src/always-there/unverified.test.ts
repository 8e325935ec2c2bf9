import { createStandIn } from '@agent-rental/stand-in';
import { expect, it } from 'vitest';
import { clientOf, toolsOf } from '../testing/tools-of.js';

it('an agent that was published although it was not reached is marked in listings and offers [REG-123]', async () => {
  const since = '2026-01-05T10:00:00.000Z';
  const standIn = createStandIn([
    { id: 'away-aaaaaa', rental: 'none', unverified_since: since },
    { id: 'here-aaaaaa', rental: 'none' },
  ]);
  const { named } = toolsOf(clientOf(standIn), { publicUrl: 'https://market.example' });
  const answerOf = async (name: string, agent_id: string) =>
    (await named(name).invoke({ agent_id })).structured;
  expect(named('get_listing').description).toContain('unverified_since');
  expect(await answerOf('get_listing', 'away-aaaaaa')).toMatchObject({ unverified_since: since });
  expect(await answerOf('get_listing', 'here-aaaaaa')).not.toHaveProperty('unverified_since');
  expect(await answerOf('rent_listing', 'away-aaaaaa')).toMatchObject({
    warning: expect.stringContaining('could not reach it') as string,
  });
  expect(await answerOf('rent_listing', 'here-aaaaaa')).not.toHaveProperty('warning');
});
