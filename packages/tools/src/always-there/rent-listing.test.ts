import type { JsonObject } from '@agent-rental/contract';
import {
  createStandIn,
  hangingAgent,
  STAND_IN_LAMPORTS,
  standInWallet,
  type StandIn,
} from '@agent-rental/stand-in';
import { describe, expect, it } from 'vitest';
import type { RentedTool, ToolResult } from '../definitions/rented-tool.js';
import { payingWallet } from '../renting/paying-wallet.js';
import { memoryLedger } from '../spending/ledger.js';
import type { SpendingRequest } from '../spending/policy.js';
import { clientOf, toolsOf as toolsOfClient } from '../testing/tools-of.js';
import type { ToolsetOptions } from '../toolset.js';

const ID = 'echo-aaaaaa';
/** The stand-in's deposit, the rent of the accounts and the network's fee. */
const TOTAL =
  10_000_000 +
  STAND_IN_LAMPORTS.credentialRent +
  STAND_IN_LAMPORTS.balanceRent +
  STAND_IN_LAMPORTS.networkFee;

function toolsOf(standIn: Pick<StandIn, 'fetch'>, options: ToolsetOptions = {}) {
  const { toolset, named } = toolsOfClient(clientOf(standIn), options);
  return {
    toolset,
    rent: (args: object, more?: Parameters<RentedTool['invoke']>[1]) =>
      named('rent_listing').invoke({ agent_id: ID, ...args }, more),
    run: (args: object = {}, more?: Parameters<RentedTool['invoke']>[1]) =>
      named('run_agent').invoke({ agent_id: ID, task: 't', ...args }, more),
    named,
  };
}

const withWallet = (policy: ToolsetOptions['policy'] = {}): ToolsetOptions => ({
  wallet: payingWallet(standInWallet()),
  policy,
});

const unrented = () => createStandIn([{ id: ID, rental: 'none' }]);
const emptied = () => createStandIn([{ id: ID, rental: 'low_balance' }]);
const proposals = ({ requests }: StandIn) => requests.filter(({ path }) => path === '/v1/transactions');

const structured = (result: ToolResult): JsonObject => result.structured ?? {};

describe('rent_listing without a wallet', () => {
  it('names the payment page, the price and its end; and pays nothing [ADP-7]', async () => {
    const standIn = createStandIn([{ id: ID, title: 'Echo', rental: 'none' }]);
    const { rent } = toolsOf(standIn, { publicUrl: 'https://market.example' });
    const offer = structured(await rent({}));
    expect(offer).toMatchObject({
      rent_url: `https://market.example/dashboard/rent/${ID}?max_total_lamports=${TOTAL}`,
      price: {
        total_lamports: TOTAL,
        total_sol: TOTAL / 1e9,
        deposit_lamports: 10_000_000,
        per_task_lamports: 2_000_000,
      },
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    });
    expect(offer).not.toHaveProperty('transaction');
    expect(standIn.paid).toBe(0);
  });

  it('gives the transaction on request, takes it back signed, and the agent works at once [ADP-7, REN-2]', async () => {
    const standIn = unrented();
    const { rent, run } = toolsOf(standIn);
    const offer = structured(await rent({ transaction: true, deposit_lamports: 20_000_000 }));
    const { transaction } = offer as { transaction: { transaction: string } };
    expect(standIn.paid).toBe(0);
    expect((await run()).error?.code).toBe('credential_not_found');
    expect(structured(await rent({ signed_transaction: transaction.transaction }))).toMatchObject({
      rented: true,
    });
    expect(standIn.paid).toBe(20_000_000);
    expect((await run()).status).toBe('completed');
  });

  it.each([{}, { transaction: true }])(
    'offers no transaction that takes more than its price: %j [REN-13]',
    async (args) => {
      const standIn = unrented();
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await standIn.fetch(input, init);
        if (!new Request(input, init).url.endsWith('/v1/transactions')) return response;
        const proposal = (await response.json()) as { quote: JsonObject };
        return Response.json({ ...proposal, quote: { ...proposal.quote, price_lamports: 1_000 } });
      };
      const result = await toolsOf({ ...standIn, fetch }).rent(args);
      expect(result.error?.code).toBe('untrusted_transaction');
      expect(result.text).toContain("the marketplace's quote says");
    },
  );

  it('pays nothing with a wallet that has no policy to pay inside of', async () => {
    const standIn = unrented();
    const { rent } = toolsOf(standIn, { wallet: payingWallet(standInWallet()) });
    expect(structured(await rent({}))).toHaveProperty('rent_url');
    expect(standIn.paid).toBe(0);
  });
});

describe('rent_listing with a wallet', () => {
  it('pays, and the agent works at once through run_agent and its own tool [REN-2, ADP-7]', async () => {
    const standIn = unrented();
    const rented: string[] = [];
    const { rent, run, toolset } = toolsOf(standIn, { ...withWallet(), onRented: (id) => rented.push(id) });
    await toolset.list();
    expect(structured(await rent({}))).toMatchObject({
      rented: true,
      paid: { total_lamports: TOTAL },
      tool_name: 'echo_aaaaaa',
    });
    expect(standIn.paid).toBe(10_000_000);
    expect(rented).toEqual([ID]);
    expect((await run()).status).toBe('completed');
    const direct = await toolset.find('echo_aaaaaa');
    expect((await direct?.invoke({ task: 't' }))?.status).toBe('completed');
  });

  it('does not pay again for a rented agent; renews and tops up an ended rental [REN-6]', async () => {
    const active = createStandIn([{ id: ID }]);
    expect(structured(await toolsOf(active, withWallet()).rent({}))).toMatchObject({
      already: true,
      paid: { total_lamports: 0 },
    });
    expect(active.paid).toBe(0);

    const low = emptied();
    await toolsOf(low, withWallet()).rent({ deposit_lamports: 3_000_000 });
    expect(low.paid).toBe(3_000_000);

    const ended = createStandIn([{ id: ID, rental: 'expired', rental_model: 'subscription' }]);
    await toolsOf(ended, withWallet()).rent({ duration_days: 90 });
    expect(proposals(ended).at(-1)?.body).toMatchObject({ action: 'renew', duration_seconds: 7_776_000 });
  });

  it.each([
    ['rent_listing', {}, 'as a marketplace without the rule proposes', true],
    ['rent_listing', {}, 'as this marketplace proposes', false],
    ['hire', { task: 't', budget_sol: 1 }, 'as a marketplace without the rule proposes', true],
    ['hire', { task: 't', budget_sol: 1 }, 'as this marketplace proposes', false],
  ])(
    '%s %j pays for no early renewal of an active subscription that is called expired, %s [TXN-24]',
    async (tool, args, _, isLenient) => {
      const standIn = createStandIn([{ id: ID, rental_model: 'subscription' }]);
      const credential = { listing_id: ID, status: 'expired', valid: false, on_chain_verified: true };
      const asked: JsonObject[] = [];
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const { pathname } = new URL(new Request(input, init).url);
        if (pathname === `/v1/credentials/${ID}`) return Response.json(credential);
        if (pathname !== '/v1/transactions') return standIn.fetch(input, init);
        const request = JSON.parse(init?.body as string) as JsonObject;
        asked.push(request);
        const body = JSON.stringify(isLenient ? { ...request, early: true } : request);
        return standIn.fetch(input, { ...init, body });
      };
      const { named } = toolsOf({ ...standIn, fetch }, withWallet());
      const result = await named(tool).invoke({ agent_id: ID, ...args });
      expect(result.text).toContain('would add 1 of 30 days: a window counts from now');
      // No model sends it: the tools have no such argument.
      expect(result.text).not.toContain('early: true');
      expect(standIn.paid).toBe(0);
      expect(asked).not.toEqual([]);
      for (const request of asked) expect(request).not.toHaveProperty('early');
    },
  );

  it.each([
    [{ rental: 'none', rental_model: 'one_time' }, {}],
    [{ rental: 'none', rental_model: 'subscription' }, {}],
    [{ rental: 'none', rental_model: 'per_query' }, { deposit_lamports: 10_000_000 }],
    [{ rental: 'expired', rental_model: 'subscription' }, {}],
    [{ rental: 'low_balance', rental_model: 'per_query' }, {}],
  ] as const)('agrees to no price above the quote: %j [REN-4]', async (listing, more) => {
    const standIn = createStandIn([{ id: ID, ...listing }]);
    await toolsOf(standIn, withWallet()).rent({});
    expect(proposals(standIn)[1]?.body).toMatchObject({ max_price_lamports: 2_000_000, ...more });
  });

  it('only agrees to a higher price if the balance is sufficient', async () => {
    const standIn = emptied();
    const credential = { listing_id: ID, status: 'low_balance', valid: false, on_chain_verified: true };
    const fetch: typeof globalThis.fetch = async (input, init) =>
      new URL(new Request(input, init).url).pathname === `/v1/credentials/${ID}`
        ? Response.json({ ...credential, balance_lamports: 2_000_000 })
        : standIn.fetch(input, init);
    await toolsOf({ ...standIn, fetch }, withWallet()).rent({});
    const agreed = { action: 'topup', amount_lamports: 0, max_price_lamports: 2_000_000 };
    expect(proposals(standIn)[1]?.body).toMatchObject(agreed);
  });

  it.each([
    ['maxDayLamports', { maxDayLamports: BigInt(TOTAL - 1) }],
    ['maxListingLamports', { maxListingLamports: BigInt(TOTAL - 1) }],
    ['maxRunLamports', { maxRunLamports: 1_999_999n }],
    ['listingIds', { listingIds: ['other-aaaaaa'] }],
  ])('is refused by %s, and nothing is signed [REN-4]', async (rule, policy) => {
    const standIn = unrented();
    const result = await toolsOf(standIn, withWallet(policy)).rent({});
    expect(result).toMatchObject({ status: 'error', error: { code: 'spending_refused', rule } });
    expect(result.text).toMatch(/^\[agent-rental\] spending_refused: .*Nothing was spent\./);
    expect(standIn.paid).toBe(0);
  });

  it('asks the approver of the call before the toolset’s; refuses without either [REN-4]', async () => {
    const policy = { askAboveLamports: 1_000_000n };
    const asked: SpendingRequest[] = [];
    const approve = (request: SpendingRequest) => Boolean(asked.push(request));
    const make = () => createStandIn([{ id: ID, title: 'Echo', rental: 'none' }]);

    const unasked = make();
    const refused = await toolsOf(unasked, withWallet(policy)).rent({});
    expect(refused.error).toEqual({
      code: 'approval_required',
      approval: { kind: 'rental', agentId: ID, title: 'Echo', lamports: TOTAL, maxRunLamports: 2_000_000 },
    });
    expect(unasked.paid).toBe(0);

    const toolset = make();
    await toolsOf(toolset, { ...withWallet(policy), approve }).rent({});
    expect(asked).toHaveLength(1);
    expect(toolset.paid).toBe(10_000_000);

    const call = make();
    const tools = toolsOf(call, { ...withWallet(policy), approve });
    expect((await tools.rent({}, { approve: () => false })).error?.rule).toBe('askAboveLamports');
    expect(asked).toHaveLength(1);
    expect(call.paid).toBe(0);
    expect(await tools.named('rent_listing').approvalOf?.({ agent_id: ID })).toEqual(asked[0]);
  });

  it('counts a rental once after many refused payments: only one of them can land [REN-4]', async () => {
    const standIn = unrented();
    const { rent } = toolsOf(standIn, withWallet({ maxDayLamports: BigInt(TOTAL) }));
    standIn.refuseNextPayment = 'The wallet holds too little SOL.';
    const refused = await rent({});
    expect(refused.text).toContain('too little SOL. Nothing was paid.');
    expect(structured(await rent({}))).toMatchObject({ rented: true });
    expect(standIn.paid).toBe(10_000_000);
  });

  it('counts a signed top-up, also if the marketplace reports a refusal [REN-4, REN-13]', async () => {
    const standIn = emptied();
    const { rent } = toolsOf(standIn, withWallet({ maxDayLamports: 15_000_000n }));
    standIn.refuseNextPayment = 'No.';
    expect((await rent({})).error?.code).toBe('invalid_request');
    // It may still land: a second one is beyond the day.
    expect((await rent({})).error).toMatchObject({ rule: 'maxDayLamports' });
    expect(standIn.paid).toBe(0);
  });

  it('gives the day back when nothing was signed [REN-4]', async () => {
    const standIn = emptied();
    const signer = standInWallet();
    let isLocked = true;
    const wallet = payingWallet({
      ...signer,
      signTransaction: async (wire) => {
        if (isLocked) throw new Error('The wallet is locked.');
        return signer.signTransaction(wire);
      },
    });
    const { rent } = toolsOf(standIn, { wallet, policy: { maxDayLamports: 15_000_000n } });
    expect((await rent({})).text).toContain('The wallet is locked.');
    isLocked = false;
    expect(structured(await rent({}))).toMatchObject({ rented: true });
  });

  it('signs once for a call that the framework makes again [REN-6, REN-4]', async () => {
    const standIn = emptied();
    const { rent } = toolsOf(standIn, withWallet());
    const again = { call: { scope: 's', toolCallId: 'call_1' } };
    standIn.refuseNextPayment = 'No.';
    await rent({}, again);
    const repeated = await rent({}, again);
    expect(repeated.text).toContain('This call has signed a payment before.');
    expect(standIn.paid).toBe(0);
    expect(structured(await rent({}))).toMatchObject({ rented: true });
  });

  it('asks once for a call that repeats meanwhile, and pays once [REN-6, REN-4]', async () => {
    const standIn = emptied();
    const { rent } = toolsOf(standIn, withWallet({ askAboveLamports: 1n }));
    let asked = 0;
    let answer = (_yes: boolean): void => undefined;
    const question = new Promise<boolean>((resolve) => (answer = resolve));
    const more = { call: { scope: 's', toolCallId: 'call_1' }, approve: () => (asked++, question) };
    const both = [rent({}, more), rent({}, more)];
    // Both have their quote, and the question is open.
    await expect.poll(() => proposals(standIn)).toHaveLength(2);
    await expect.poll(() => asked).toBe(1);
    answer(true);
    const results = await Promise.all(both);
    expect(asked).toBe(1);
    expect(standIn.paid).toBe(10_000_000);
    expect(results.map(structured)).toMatchObject([{ rented: true }, { rented: true }]);
  });

  it('pays once for two calls at the same time [REN-6]', async () => {
    const standIn = emptied();
    const { rent } = toolsOf(standIn, withWallet({ maxDayLamports: 30_000_000n }));
    const both = (await Promise.all([rent({}), rent({})])).map(structured);
    expect(both).toContainEqual(expect.objectContaining({ rented: true, already: true }));
    expect(standIn.paid).toBe(10_000_000);
    // The second one is not counted.
    standIn.add({ id: ID, rental: 'low_balance' });
    expect(structured(await rent({}))).toMatchObject({ rented: true });
  });

  it('refuses another agent in place of the requested one [REN-13]', async () => {
    const standIn = createStandIn([
      { id: ID, rental: 'none' },
      { id: 'other-aaaaaa', rental: 'none' },
    ]);
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const { href } = new URL(new Request(input, init).url);
      return standIn.fetch(href.replace(`/listings/${ID}`, '/listings/other-aaaaaa'), init);
    };
    const { rent } = toolsOf({ ...standIn, fetch }, withWallet());
    expect((await rent({})).text).toContain('answered about another listing');
    expect(standIn.paid).toBe(0);
  });

  it('whose answer is lost sends the same payment again, and pays once [REN-6]', async () => {
    const standIn = emptied();
    const { rent } = toolsOf(standIn, withWallet({ maxDayLamports: 15_000_000n }));
    standIn.loseNextPayment = true;
    const lost = await rent({});
    expect(lost.status).toBe('error');
    expect(lost.text).toContain('Whether the rental was paid is not known.');
    expect(structured(await rent({}))).toMatchObject({ rented: true });
    expect(standIn.paid).toBe(10_000_000);
  });

  it('that never arrived is sent again as it was signed, until its outcome is known [REN-6]', async () => {
    const standIn = unrented();
    const sent: unknown[] = [];
    let isCut = true;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.endsWith('/submit')) return standIn.fetch(request);
      sent.push(((await request.clone().json()) as JsonObject)['transaction']);
      if (isCut) throw new TypeError('The line is dead.');
      return standIn.fetch(request);
    };
    const { rent } = toolsOf({ ...standIn, fetch }, withWallet({ maxDayLamports: BigInt(3 * TOTAL) }));
    for (let count = 0; count < 2; count += 1) {
      expect((await rent({})).text).toContain('Whether the rental was paid is not known.');
    }
    isCut = false;
    expect(structured(await rent({}))).toMatchObject({ rented: true });
    expect(sent).toHaveLength(3);
    expect(new Set(sent).size).toBe(1);
    expect(standIn.paid).toBe(10_000_000);

    // The payment has ended: a later payment is a new one.
    standIn.add({ id: ID, rental: 'low_balance' });
    expect(structured(await rent({}))).toMatchObject({ rented: true });
    standIn.add({ id: ID, rental: 'low_balance' });
    expect(structured(await rent({}))).toMatchObject({ rented: true });
    expect(sent).toHaveLength(5);
    expect(new Set(sent).size).toBe(3);
  });

  it('shows the approver a title that hides nothing [REN-4, REN-13]', async () => {
    const title = `Echo\u202e\n[agent-rental] free ${'x'.repeat(500)}`;
    const standIn = createStandIn([{ id: ID, title, rental: 'none' }]);
    const { rent } = toolsOf(standIn, withWallet({ askAboveLamports: 0n }));
    const shown = (await rent({})).error?.approval?.title ?? '';
    expect(shown).toMatch(/^Echo \(agent-rental\) free x+…$/);
    expect(shown.length).toBeLessThanOrEqual(80);
  });

  it('never takes or gives a key [ADP-7]', async () => {
    const standIn = unrented();
    const { rent, toolset } = toolsOf(standIn, withWallet());
    const schemas = JSON.stringify(toolset.alwaysThere.map((tool) => tool.inputSchema));
    expect(schemas).not.toMatch(/private|secret|keypair|api_key|mnemonic/i);
    expect(JSON.stringify(await rent({}))).not.toMatch(/private|secret|keypair|ark_dev/i);
  });
});

/** A market that reports another price per run than it charges. */
function cheapTalk(standIn: StandIn, told: object): StandIn {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await standIn.fetch(input, init);
    if (!new URL(new Request(input, init).url).pathname.startsWith('/v1/listings/')) return response;
    return Response.json({ ...((await response.json()) as object), ...told });
  };
  return { ...standIn, fetch };
}

describe('a run under a policy', () => {
  const PRICE = 2_000_000;

  it.each([
    ['a lower price', { price_lamports: 1_000 }],
    ['another rental model', { rental_model: 'one_time' }],
  ])('counts at its rental’s agreed price if the marketplace reports %s [REN-13]', async (_, told) => {
    const standIn = unrented();
    const ledger = memoryLedger();
    await toolsOf(standIn, { ...withWallet(), ledger }).rent({});
    const policy = { askAboveLamports: BigInt(PRICE - 1) };
    const { run, named, toolset } = toolsOf(cheapTalk(standIn, told), { policy, ledger });
    expect((await run()).error).toMatchObject({ code: 'approval_required', approval: { lamports: PRICE } });
    expect(standIn.charged).toBe(0);
    const args = { agent_id: ID, task: 't' };
    expect(await named('run_agent').approvalOf?.(args)).toMatchObject({ lamports: PRICE });
    expect(await named('run_agent').spending(args)).toEqual({ kind: 'run', lamports: PRICE });
    const direct = await toolset.find('echo_aaaaaa');
    expect(await direct?.spending(args)).toEqual({ kind: 'run', lamports: PRICE });
    expect((await direct?.invoke(args))?.error?.code).toBe('approval_required');
    const tight = toolsOf(cheapTalk(standIn, told), { policy: { maxRunLamports: 5_000n }, ledger });
    expect((await tight.run()).error).toMatchObject({ rule: 'maxRunLamports' });
  });

  it('that never was paid for agrees to no price', async () => {
    const standIn = emptied();
    const ledger = memoryLedger();
    const refused = toolsOf(standIn, { ...withWallet({ maxDayLamports: 1n }), ledger });
    expect((await refused.rent({})).error?.code).toBe('spending_refused');
    expect(await ledger.agreedPrices.highest(ID)).toBeUndefined();
  });

  it('above its limit is refused before it is sent [REN-4]', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const { toolset } = toolsOf(standIn, { policy: { maxRunLamports: BigInt(PRICE - 1) } });
    for (const name of ['run_agent', 'echo_aaaaaa']) {
      const result = await (await toolset.find(name))?.invoke({ agent_id: ID, task: 't' });
      expect(result?.error, name).toEqual({ code: 'spending_refused', rule: 'maxRunLamports' });
    }
    expect(standIn.charged).toBe(0);
  });

  it('counts charges, and not refusals', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const { run } = toolsOf(standIn, { policy: { maxDayLamports: BigInt(2 * PRICE) } });
    standIn.failNextRun = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    expect((await run()).error?.code).toBe('rate_limit_exceeded');
    expect((await run()).status).toBe('completed');
    expect((await run()).status).toBe('completed');
    expect((await run()).error).toMatchObject({ code: 'spending_refused', rule: 'maxDayLamports' });
    expect(standIn.charged).toBe(2 * PRICE);
  });

  it('of an agent that costs nothing per run asks for no approval', async () => {
    const standIn = createStandIn([{ id: ID, rental_model: 'one_time' }]);
    const { run } = toolsOf(standIn, { policy: { maxDayLamports: 0n, askAboveLamports: 0n } });
    expect((await run()).status).toBe('completed');
  });
});

it('an aborted call cancels its run by its key [REN-6]', async () => {
  const standIn = createStandIn([{ id: ID, run: hangingAgent().run }]);
  const controller = new AbortController();
  const onDelta = () => controller.abort(new Error('enough'));
  const more = { idempotencyKey: 'key-1', signal: controller.signal, onDelta };
  const running = toolsOf(standIn).run({}, more);
  await expect(running).rejects.toThrow('enough');
  expect(standIn.cancelledKeys).toEqual(['key-1']);
});

describe('cancel_run', () => {
  it('reports the outcome of the run', async () => {
    const standIn = createStandIn([{ id: ID }]);
    const { run, named } = toolsOf(standIn);
    const { runId } = await run();
    const cancelled = await named('cancel_run').invoke({ run_id: runId });
    expect(cancelled).toMatchObject({ status: 'completed', runId, agentId: ID });
    expect(cancelled.text).toContain('had ended by itself');
    expect((await named('cancel_run').invoke({ run_id: 'run_9' })).error?.code).toBe('not_found');
    expect((await named('cancel_run').invoke({})).error?.code).toBe('invalid_request');
  });
});
