import { ALWAYS_THERE_TOOLS } from '@agent-rental/contract';
import { createStandIn } from '@agent-rental/stand-in';
import { describe, expect, it } from 'vitest';
import { clientOf, toolOf } from '../testing/tools-of.js';

const ID = 'echo-aaaaaa';

/** The answer of a tool that charges nothing. */
async function said(name: string, args: unknown): Promise<string> {
  const input_schema = { type: 'object', properties: { csv: { type: 'string' } } };
  const standIn = createStandIn([{ id: ID, input_schema }]);
  const { text } = await (await toolOf(clientOf(standIn), name)).invoke(args);
  expect(standIn.charged).toBe(0);
  return text;
}

describe('a tool that needs no rental', () => {
  it.each(Object.keys(ALWAYS_THERE_TOOLS))(
    '%s refuses an unknown member, and names its members [ADP-15]',
    async (name) => {
      const text = await said(name, { xyzzy: 1 });
      expect(text).toMatch(
        new RegExp(
          String.raw`^\[agent-rental\] invalid_request: "xyzzy" is no argument of ${name}\. It takes \w+`,
        ),
      );
      expect(text).not.toContain('Did you mean');
    },
  );

  it.each([
    ['search_listings', { q: 'invoices' }, 'query'],
    ['search_listings', { maxPrice: 1 }, 'max_price_sol'],
    ['list_rentals', { querry: 'x' }, 'query'],
    ['get_listing', { id: ID }, 'agent_id'],
    ['get_listing', { listing_id: ID }, 'agent_id'],
    ['rent_listing', { agentId: ID }, 'agent_id'],
    ['run_agent', { agent_id: ID, tsk: 't' }, 'task'],
    ['run_agent', { agent_id: ID, task: 't', inputUri: 'x' }, 'input_uri'],
    ['hire', { task: 't', budget: 1 }, 'budget_sol'],
    ['get_run', { runId: 'x' }, 'run_id'],
    ['cancel_run', { id: 'x' }, 'run_id'],
  ])('%s %j: names the intended member [ADP-15]', async (name, args, meant) => {
    expect(await said(name, args)).toContain(`Did you mean "${meant}"?`);
  });

  it.each([
    ['run_agent', { agent_id: ID, task: 5 }, '"task" is the number 5: it must be a text.'],
    ['run_agent', { agent_id: 5, task: 't' }, '"agent_id" is the number 5: it must be a text.'],
    [
      'run_agent',
      { agent_id: ID, task: 't', input: [1] },
      '"input" is a list: it must be an object or a text.',
    ],
    ['run_agent', { agent_id: ID, task: 't', new_run: 'yes' }, '"new_run" is the text "yes"'],
    [
      'hire',
      { task: 't', budget_sol: 1, dry_run: 'yes' },
      '"dry_run" is the text "yes": it must be true or false.',
    ],
    [
      'rent_listing',
      { agent_id: ID, transaction: 1 },
      '"transaction" is the number 1: it must be true or false.',
    ],
    ['search_listings', { limit: 'ten' }, '"limit" is the text "ten": it must be a number.'],
    ['search_listings', { sort: 'best' }, '"sort" is the text "best": it must be one of '],
    ['get_run', { run_id: {} }, '"run_id" is an object: it must be a text.'],
  ])('%s %j: names the type of a wrong value [ADP-15]', async (name, args, words) => {
    expect(await said(name, args)).toContain(words);
  });

  it.each([
    ['null for an absent member', { query: null, sort: null }],
    ['members that hosts add', { query: 'echo', tool: 'search_listings', toolCallId: 'call_1' }],
    ['numbers as text', { limit: '3' }],
  ])('takes %s [ADP-15]', async (_what, args) => {
    expect(await said('search_listings', args)).toContain(ID);
  });
});
