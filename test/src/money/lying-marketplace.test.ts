import type { TransactionRequest } from '@agent-rental/contract';
import { createClient } from '@agent-rental/sdk';
import { keypairSigner } from '@agent-rental/sdk/solana';
import { payingWallet, rentedToolset, type SpendingPolicy } from '@agent-rental/tools';
import { Connection } from '@solana/web3.js';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newRenter } from '../support/renter.js';

let marketplace: Marketplace;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

/** The changes of a proxy: to the body of a request, and to the value of an answer. */
interface Lies {
  readonly request?: (path: string, body: TransactionRequest) => unknown;
  readonly answer?: (path: string, value: Record<string, unknown>) => void;
}

/** Forwards to the marketplace and changes requests and answers. */
function proxied({ request: change = (_path, body) => body, answer: rewrite }: Lies): typeof fetch {
  return async (input, init) => {
    const path = new URL(new Request(input, init).url).pathname;
    const body =
      path === '/v1/transactions' && typeof init?.body === 'string'
        ? JSON.stringify(change(path, JSON.parse(init.body) as TransactionRequest))
        : init?.body;
    const response = await fetch(input, { ...init, body: body ?? null });
    if (!response.ok || rewrite === undefined) return response;
    const value = (await response.json()) as Record<string, unknown>;
    rewrite(path, value);
    return Response.json(value, { status: response.status });
  };
}

/** The policy of the report: 0.001 SOL a day, and a person is asked above 0.0001 SOL. */
const POLICY: SpendingPolicy = { maxDayLamports: 1_000_000n, askAboveLamports: 100_000n };

async function newVictim(lies: Lies, policy = POLICY) {
  const { wallet } = await newRenter(marketplace);
  const signer = keypairSigner(wallet);
  const { base_url: baseUrl, rpc_url: rpcUrl } = marketplace.dev;
  const honest = createClient({ baseUrl, signer });
  const client = createClient({ baseUrl, signer, fetch: proxied(lies), retries: 0 });
  const asked: unknown[] = [];
  const toolset = rentedToolset(client, {
    wallet: payingWallet(signer),
    policy,
    approve: (request) => asked.push(request) < 0,
  });
  const connection = new Connection(rpcUrl, 'confirmed');
  return {
    honest: rentedToolset(honest, { wallet: payingWallet(signer), policy: {} }),
    asked,
    held: () => connection.getBalance(wallet.publicKey),
    call: async (name: string, args: object) => (await toolset.find(name))!.invoke(args),
  };
}

type Quote = Record<
  'price_lamports' | 'max_price_lamports' | 'rent_lamports' | 'network_fee_lamports',
  number
>;

/** Makes every quote look cheap; the transaction to sign is unchanged. */
const cheapQuotes: Lies['answer'] = (path, value) => {
  if (path !== '/v1/transactions') return;
  const quote = value['quote'] as Quote;
  Object.assign(quote, { price_lamports: 1_000, rent_lamports: 0, network_fee_lamports: 0 });
};

describe('a marketplace that lies about amounts takes nothing past the policy', () => {
  test.each(['one_time', 'subscription'] as const)(
    'when it quotes a %s rental below its price [REN-13]',
    async (model) => {
      const victim = await newVictim({ answer: cheapQuotes });
      const before = await victim.held();
      const result = await victim.call('rent_listing', { agent_id: marketplace.listing(model).id });
      expect(await victim.held()).toBe(before);
      expect(result.error?.code).toBe('untrusted_transaction');
      expect(victim.asked).toEqual([]);
    },
  );

  test('when it turns a top-up into half a SOL by the least deposit [REN-13]', async () => {
    const { id } = marketplace.listing('per_query');
    const victim = await newVictim({
      answer: (path, value) => {
        if (path === `/v1/listings/${id}`) value['min_deposit_lamports'] = 500_000_000;
        if (path === `/v1/credentials/${id}`) {
          Object.assign(value, { status: 'low_balance', valid: false, balance_lamports: 0 });
        }
        cheapQuotes(path, value);
      },
    });
    const honest = await victim.honest.find('rent_listing');
    expect((await honest!.invoke({ agent_id: id })).status).toBe('completed');
    const before = await victim.held();
    const result = await victim.call('rent_listing', { agent_id: id });
    expect(await victim.held()).toBe(before);
    expect(result.error?.code).toBe('untrusted_transaction');
    expect(result.text).toContain(
      "can take 500005000 lamports from the wallet, and the marketplace's quote says 1000",
    );
  });

  test('when its quote is true and only the listing was cheap: the policy refuses it [REN-13]', async () => {
    const victim = await newVictim({
      request: (_path, body) => (body.action === 'rent' ? { ...body, deposit_lamports: 500_000_000 } : body),
    });
    const before = await victim.held();
    const { id } = marketplace.listing('per_query');
    const result = await victim.call('rent_listing', { agent_id: id });
    expect(await victim.held()).toBe(before);
    expect(result.error).toEqual({ code: 'spending_refused', rule: 'maxDayLamports' });
  });

  test('when it agrees to more for each run than the policy allows [REN-13]', async () => {
    const { id } = marketplace.listing('per_query');
    const victim = await newVictim(
      {
        request: (_path, body) =>
          body.action === 'rent'
            ? { ...body, max_price_lamports: 9_000_000, deposit_lamports: 9_000_000 }
            : body,
        answer: (path, value) => {
          // The rental model is false, too: a check by that model would skip the price of a run.
          if (path === `/v1/listings/${id}`) value['rental_model'] = 'one_time';
        },
      },
      { maxRunLamports: 1_000_000n },
    );
    const before = await victim.held();
    const result = await victim.call('rent_listing', { agent_id: id });
    expect(await victim.held()).toBe(before);
    expect(result.error).toEqual({ code: 'spending_refused', rule: 'maxRunLamports' });
  });

  test('when a hire is to stay inside its budget [ADP-7, REN-13]', async () => {
    const victim = await newVictim({ answer: cheapQuotes }, {});
    const before = await victim.held();
    const { task, input } = await marketplace.request('one_time');
    const agent_id = marketplace.listing('one_time').id;
    await victim.call('hire', { task, input, agent_id, budget_sol: 0.0001 });
    expect(await victim.held()).toBe(before);
  });
});
