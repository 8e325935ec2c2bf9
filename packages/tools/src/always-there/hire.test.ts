import { createStandIn, standInWallet, type StandIn, type StandInListing } from '@agent-rental/stand-in';
import { describe, expect, it } from 'vitest';
import type { RentedTool } from '../definitions/rented-tool.js';
import { payingWallet } from '../renting/paying-wallet.js';
import { clientOf, toolsOf } from '../testing/tools-of.js';
import type { ToolsetOptions } from '../toolset.js';
import { misfitOf } from './hire/fits-input.js';

/** The stand-in's deposit, the rent of the accounts and the network's fee. */
const TOTAL = 13_888_680;

const AGENTS = [
  { id: 'invoices-aaaaaa', title: 'Invoice reader', description: 'Reads totals of an invoice.' },
  { id: 'contracts-aaaaaa', title: 'Contract dates', description: 'Deadlines in a contract.' },
  { id: 'poems-aaaaaa', title: 'Poet', description: 'Writes poems.' },
];

function hiring(
  standIn: StandIn,
  options: ToolsetOptions = { wallet: payingWallet(standInWallet()), policy: {} },
) {
  const tool = toolsOf(clientOf(standIn), options).named('hire');
  const hire = (args: object, more?: Parameters<RentedTool['invoke']>[1]) =>
    tool.invoke({ budget_sol: 1, ...args }, more);
  return { hire, tool };
}

const unrented = (listing: StandInListing): StandIn => createStandIn([{ ...listing, rental: 'none' }]);
const market = (): StandIn => createStandIn(AGENTS.map((listing) => ({ ...listing, rental: 'none' })));

describe('hire', () => {
  it('goes from a sentence to the paid answer and its receipt in one call [ADP-7]', async () => {
    const standIn = market();
    const { hire } = hiring(standIn);
    const deltas: string[] = [];
    const result = await hire(
      { task: 'Please find all the deadlines in this contract for me', input: { text: 'x' } },
      { onDelta: (delta) => deltas.push(delta) },
    );
    expect(result).toMatchObject({
      status: 'completed',
      agentId: 'contracts-aaaaaa',
      structured: { input: { text: 'x' } },
      costLamports: 2_000_000,
      receipt: { receipt: { listing_id: 'contracts-aaaaaa', cost_lamports: 2_000_000 } },
    });
    expect(result.note).toContain(`contracts-aaaaaa was rented for ${TOTAL} lamports`);
    expect(deltas).toEqual(['working']);
    expect(standIn).toMatchObject({ paid: 10_000_000, charged: 2_000_000 });
  });

  it('pays the rental once, and only the run from then on', async () => {
    const standIn = market();
    const { hire } = hiring(standIn);
    await hire({ task: 'contract' });
    const again = await hire({ task: 'contract', budget_sol: 0.002 });
    expect(again.note).toContain('contracts-aaaaaa was rented already.');
    expect(standIn).toMatchObject({ paid: 10_000_000, charged: 4_000_000 });
  });

  it('with dry_run names the agent and its cost, and spends nothing [ADP-7]', async () => {
    const standIn = market();
    const { hire } = hiring(standIn);
    const quoted = await hire({ task: 'contract deadlines', dry_run: true });
    expect(quoted.structured).toMatchObject({
      dry_run: true,
      would_hire: { agent_id: 'contracts-aaaaaa' },
      price: { total_lamports: TOTAL },
      per_run_lamports: 2_000_000,
      needed_lamports: TOTAL,
    });
    expect(standIn).toMatchObject({ paid: 0, charged: 0 });
    expect(standIn.requests.filter(({ path }) => /execute|submit/.test(path))).toEqual([]);
  });

  it('pays no lamport above its budget [ADP-7]', async () => {
    const standIn = market();
    const { hire } = hiring(standIn);
    const short = await hire({ task: 'contract', budget_sol: 0.013888679 });
    const reason = expect.stringContaining('above the budget') as string;
    const passed_over = [{ agent_id: 'contracts-aaaaaa', reason }];
    expect(short.structured).toMatchObject({ hired: false, passed_over });
    expect(standIn.paid).toBe(0);
    expect((await hire({ task: 'contract', budget_sol: 0.01388868 })).status).toBe('completed');
  });

  it('covers a run from an earlier deposit, if only its price needs agreement [ADP-7]', async () => {
    const standIn = createStandIn([{ id: 'sums-aaaaaa', title: 'Sums', rental: 'low_balance' }]);
    const state = { listing_id: 'sums-aaaaaa', status: 'low_balance', valid: false, on_chain_verified: true };
    const fetch: typeof globalThis.fetch = async (input, init) =>
      new URL(new Request(input, init).url).pathname === '/v1/credentials/sums-aaaaaa' && standIn.paid === 0
        ? Response.json({ ...state, balance_lamports: 5_000_000 })
        : standIn.fetch(input, init);
    const { hire } = hiring({ ...standIn, fetch });
    const needed = 2_000_000 + 5_000;
    const quoted = await hire({ task: 'Sums', dry_run: true });
    expect(quoted.structured).toMatchObject({ needed_lamports: needed, price: { total_lamports: 5_000 } });
    const short = await hire({ task: 'Sums', budget_sol: (needed - 1) / 1e9 });
    expect(short.structured).toMatchObject({ hired: false });
    expect(standIn.charged).toBe(0);
  });

  it.each([
    ['maxDayLamports', { maxDayLamports: BigInt(TOTAL - 1) }],
    ['maxRunLamports', { maxRunLamports: 1n }],
    ['listingIds', { listingIds: [] }],
  ])('stays inside the policy: %s [ADP-7, REN-4]', async (rule, policy) => {
    const standIn = market();
    const { hire } = hiring(standIn, { wallet: payingWallet(standInWallet()), policy });
    const refused = await hire({ task: 'contract' });
    expect(refused.error).toEqual({ code: 'spending_refused', rule });
    expect(standIn).toMatchObject({ paid: 0, charged: 0 });
  });

  it('asks above the policy’s amount, and reports this before the call [REN-4]', async () => {
    const standIn = market();
    const options = { wallet: payingWallet(standInWallet()), policy: { askAboveLamports: 5_000_000n } };
    const { hire, tool } = hiring(standIn, options);
    expect((await hire({ task: 'contract' })).error?.code).toBe('approval_required');
    const args = { task: 'contract', budget_sol: 1 };
    expect(await tool.approvalOf?.(args)).toMatchObject({ agentId: 'contracts-aaaaaa', lamports: TOTAL });
    expect(await tool.approvalOf?.({ ...args, dry_run: true })).toBeUndefined();
    expect(standIn.paid).toBe(0);
    expect((await hire({ task: 'contract' }, { approve: () => true })).status).toBe('completed');
  });

  it('rents no agent that does not take the input, and shows its schema', async () => {
    const input_schema = { type: 'object', properties: { csv: { type: 'string' } }, required: ['csv'] };
    const standIn = unrented({ id: 'sums-aaaaaa', title: 'Sums', input_schema });
    const { hire } = hiring(standIn);
    for (const input of [undefined, { text: 'x' }]) {
      const result = await hire({ task: 'Sums', input });
      expect(result.structured).toMatchObject({
        hired: false,
        passed_over: [{ agent_id: 'sums-aaaaaa', reason: 'its input needs "csv"', input_schema }],
      });
    }
    expect(standIn.paid).toBe(0);
    expect((await hire({ task: 'Sums', input: { csv: 'a' } })).status).toBe('completed');
  });

  it('gives text to an agent that takes text', async () => {
    const standIn = createStandIn([{ id: 'echo-aaaaaa', title: 'Echo', input_schema: { type: 'string' } }]);
    const { hire } = hiring(standIn);
    const given = async (input?: object) => (await hire({ task: 'Echo', input })).structured?.['input'];
    expect([await given({ text: 'x' }), await given()]).toEqual(['x', null]);
  });

  it('without a wallet runs rented agents, and names the payment page for others [ADP-7]', async () => {
    const standIn = market();
    const { hire } = hiring(standIn, {});
    expect((await hire({ task: 'contract' })).structured).toMatchObject({
      hired: false,
      rent_url: expect.stringContaining('/dashboard/rent/contracts-aaaaaa') as string,
      price: { total_lamports: TOTAL },
    });
    standIn.add({ id: 'contracts-aaaaaa', title: 'Contract dates', rental: 'active' });
    expect((await hire({ task: 'contract' })).status).toBe('completed');
    expect(standIn.paid).toBe(0);
  });

  it('takes the named agent, and reports an unknown one', async () => {
    const standIn = market();
    const { hire } = hiring(standIn);
    expect((await hire({ task: 'contract', agent_id: 'poems-aaaaaa' })).agentId).toBe('poems-aaaaaa');
    const none = await hire({ task: 'zebra' });
    expect(none.structured).toMatchObject({ hired: false, passed_over: [] });
    for (const budget_sol of ['much', -1])
      expect((await hire({ task: 'x', budget_sol })).error?.code).toBe('invalid_request');
  });

  it('whose payment or answer is lost pays once, called again [REN-6]', async () => {
    const standIn = market();
    const { hire } = hiring(standIn);
    standIn.loseNextPayment = true;
    const lost = await hire({ task: 'contract' });
    expect(lost.text).toContain('Call hire again');
    expect((await hire({ task: 'contract' })).status).toBe('completed');
    expect(standIn).toMatchObject({ paid: 10_000_000, charged: 2_000_000 });
  });
});

describe('misfitOf', () => {
  it.each([
    [{}, undefined, undefined],
    [{ type: 'string' }, undefined, undefined],
    [{ required: ['a'] }, undefined, 'its input needs "a"'],
    [{ required: ['a', 'b'] }, { a: 1 }, 'its input needs "b"'],
    [{ type: 'string' }, { a: 1 }, 'its input is of type string'],
    [{ type: ['string', 'object'] }, { a: 1 }, undefined],
    [{ properties: { a: {} }, additionalProperties: false }, { a: 1, b: 2 }, 'its input has no "b"'],
    [{ properties: { a: {} } }, { b: 2 }, undefined],
    [{ required: 'a', type: 7, properties: null, additionalProperties: false }, { b: 2 }, undefined],
    [{ required: ['toString'] }, {}, 'its input needs "toString"'],
  ])('%j with %j: %s', (schema, input, misfit) => {
    expect(misfitOf(schema as never, input)).toBe(misfit);
  });
});
