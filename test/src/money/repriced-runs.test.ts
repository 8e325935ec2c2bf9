import { findPerQueryBalanceAddress, findListingAddress, decodeEvents } from '@agent-rental/program-client';
import { ApiError, createClient, type RentalClient } from '@agent-rental/sdk';
import { createApiKey, rent, update } from '@agent-rental/sdk/solana';
import { Connection, PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { beforeAll, expect, inject, test, vi } from 'vitest';
import { publishProgram } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const PRICES = [250_000, 400_000, 700_000] as const;
/** The renter's agreed maximum price, and its key's limit for a run. */
const AGREED = 700_000;
const KEY_LIMIT = 400_000;

let marketplace: Marketplace;
let connection: Connection;
let creator: Participant;
let renter: Participant;
let limited: RentalClient;
let agentId: string;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  connection = new Connection(marketplace.dev.rpc_url, 'confirmed');
  creator = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  agentId = await publishProgram(marketplace, creator, 'return {};');
  await rent(renter.client, renter.signer, agentId, {
    deposit_lamports: 200_000_000,
    max_price_lamports: AGREED,
  });
  const { key } = await createApiKey(renter.client, renter.signer, 'limited', {
    policy: { max_run_lamports: KEY_LIMIT },
  });
  limited = createClient({ baseUrl: marketplace.dev.base_url, apiKey: key, retries: 0 });
});

type Step = { is: 'reprice'; price: number } | { is: 'run'; byKey: boolean } | { is: 'runs'; count: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant('reprice' as const), price: fc.constantFrom(...PRICES) }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('run' as const), byKey: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant('runs' as const), count: fc.integer({ min: 2, max: 4 }) }),
  },
);

/** The on-chain charge of each run, by its id, from the events of landed transactions. */
async function takenOnChain(): Promise<Map<string, bigint>> {
  const listing = findListingAddress(agentId).address;
  const balance = findPerQueryBalanceAddress(new PublicKey(renter.signer.address), listing).address;
  const signatures = await connection.getSignaturesForAddress(balance, { limit: 1000 }, 'confirmed');
  const taken = new Map<string, bigint>();
  for (const { signature, err } of signatures) {
    if (err) continue;
    const transaction = await connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    for (const event of decodeEvents(transaction?.meta?.logMessages ?? [])) {
      if (event.name !== 'QueryConsumed') continue;
      const runId = Buffer.from(event.data.runId).toString('hex');
      expect(taken.has(runId)).toBe(false);
      taken.set(runId, event.data.priceLamports);
    }
  }
  return taken;
}

test('when prices change while runs are admitted, charged and read, then answer, receipt, record and chain name one price [PRG-10]', async () => {
  const answered = new Map<string, number>();
  const run = async (client: RentalClient, limit: number) => {
    try {
      const { run_id: runId, cost_lamports: cost } = await client.execute({
        agent_id: agentId,
        task: 'Go.',
        input: {},
      });
      expect(cost).toBeLessThanOrEqual(limit);
      answered.set(runId, cost);
    } catch (error) {
      // A refusal by the policy, or because the listing was repriced twice while the run was under way.
      if (
        !(error instanceof ApiError) ||
        !['insufficient_balance', 'service_unavailable'].includes(error.code)
      )
        throw error;
    }
  };
  const reprice = (price_lamports: number) =>
    update(creator.client, creator.signer, agentId, { price_lamports, min_deposit_lamports: price_lamports });

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
      const working: Promise<unknown>[] = [];
      for (const each of steps) {
        switch (each.is) {
          case 'reprice':
            // Beside the runs that were started before it.
            await reprice(each.price);
            break;
          case 'run':
            working.push(each.byKey ? run(limited, KEY_LIMIT) : run(renter.client, AGREED));
            break;
          case 'runs':
            for (let count = 0; count < each.count; count += 1) working.push(run(renter.client, AGREED));
            break;
          default:
            each satisfies never;
        }
      }
      await Promise.all(working);
    }),
    { numRuns: 8, seed: 1604 },
  );

  expect(answered.size).toBeGreaterThan(10);
  expect(new Set(answered.values()).size).toBeGreaterThan(1);
  const taken = await takenOnChain();
  const { runs } = await renter.client.listRuns({ limit: 100 });
  for (const [runId, cost] of answered) {
    const { receipt } = await renter.client.getReceipt(runId);
    const record = runs.find(({ run_id: id }) => id === runId);
    const onChain = taken.get(runId.replaceAll('-', ''));
    expect([receipt.cost_lamports, record?.cost_lamports, Number(onChain)]).toEqual([cost, cost, cost]);
  }
  // Charges of runs without an answer are credited.
  await vi.waitUntil(async () => (await takenOnChain()).size >= answered.size, { timeout: 15_000 });
}, 180_000);
