import { createClient, isApiError } from '@agent-rental/sdk';
import { keypairSigner } from '@agent-rental/sdk/solana';
import { Keypair } from '@solana/web3.js';
import { beforeAll, expect, inject, test } from 'vitest';
import { publishProgram } from '../support/agents/agents.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

let marketplace: Marketplace;
let creator: Participant;
let agentId: string;

beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  creator = await newParticipant(marketplace);
  agentId = await publishProgram(marketplace, creator, 'return { answer: 42 };', {
    listing: { sample_output: ['{}'], free_trial: true },
  });
});

const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (isApiError(error) ? error : Promise.reject(error)),
  );

test('a wallet without a rental runs an agent once for nothing, and its receipt and the creator’s numbers say so [EXE-100, REG-140]', async () => {
  const { client } = await newParticipant(marketplace);
  expect(await client.getListing(agentId)).toMatchObject({ free_trial: true });
  const task = { agent_id: agentId, task: 'Answer.', input: {} };
  const run = await client.execute(task);
  expect(run).toMatchObject({ status: 'completed', cost_lamports: 0, trial: true });
  const { receipt, log } = await client.getReceipt(run.run_id);
  expect(receipt).toMatchObject({ version: 3, trial: true, cost_lamports: 0, charge_signature: null });
  // It goes into the run log as any run without a charge.
  expect(['pending', 'logged']).toContain(log.status);
  expect(await refusalOf(client.execute(task))).toMatchObject({
    code: 'credential_not_found',
    message: expect.stringContaining('has had its free run') as string,
  });
  expect(await refusalOf(client.createReview(agentId, { rating: 5 }))).toMatchObject({
    code: 'invalid_request',
  });
  const stats = await creator.client.getAgentStats(agentId);
  expect(stats).toMatchObject({ runs: { total: 1, completed: 1 }, health: { is_checked: true } });
});

test('a wallet that holds nothing has no free run [EXE-102]', async () => {
  const signer = keypairSigner(Keypair.generate());
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer, retries: 0 });
  const refusal = await refusalOf(client.execute({ agent_id: agentId, task: 'Answer.', input: {} }));
  expect(refusal).toMatchObject({
    code: 'credential_not_found',
    message: expect.stringContaining('0.05 SOL') as string,
  });
});
