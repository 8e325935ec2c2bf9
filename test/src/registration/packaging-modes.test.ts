import { isApiError } from '@agent-rental/sdk';
import { createAgentHandler } from '@agent-rental/sdk/creator';
import { publish, rent } from '@agent-rental/sdk/solana';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobEnd, PRICE, publishAgent, textAgent } from '../support/agents/agents.js';
import { startModelStandIn, type ModelStandIn } from '../support/agents/model-stand-in.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
  withoutExamples,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const MODES = ['declarative', 'connected'] as const;
type Mode = (typeof MODES)[number];
const ANSWER = 'An answer.';
const SECOND = {
  description: 'Answers of pages.',
  input_schema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
};

let model: ModelStandIn;
let stateDir: string;
let marketplace: OwnMarketplace;
/** One agent of each mode, with separate creators, so that the creators' data does not differ. */
const agents = new Map<Mode, { creator: Participant; renter: Participant; id: string }>();

const agentOf = (mode: Mode) => {
  const agent = agents.get(mode);
  if (!agent) throw new Error(`No agent is ${mode}.`);
  return agent;
};

/** Registers the same public part in one of the modes, without a sample, and publishes it with a free first run. */
async function sell(mode: Mode): Promise<void> {
  const creator = await newParticipant(marketplace);
  const { system_prompt, ...manifest } = textAgent(model.baseUrl, {
    listing: { rental_model: 'per_query', price_lamports: PRICE, free_trial: true },
  });
  const entrypoint_url = new URL('/agent', model.baseUrl).href;
  const registering = creator.client.registerAgent({
    ...manifest,
    ...(mode === 'declarative' ? { system_prompt } : { entrypoint_url }),
  });
  if (mode === 'connected') {
    // Before the registration is answered: the agent is called as soon as it is registered.
    const handle = createAgentHandler({
      webhookSecret: async () => (await registering).webhook_secret,
      run: () => ANSWER,
    });
    model.answerOthers(handle);
  }
  const { job_id } = await registering;
  const job = await jobEnd(creator.client, job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  const { listing_id: id } = job.result;
  await publish(creator.client, creator.signer, id);
  agents.set(mode, { creator, renter: await newParticipant(marketplace), id });
}

/** Sells an agent that is never reached, as an unverified one. */
async function sellUnreachable(mode: Mode): Promise<void> {
  const creator = await newParticipant(marketplace);
  const { system_prompt, ...manifest } = textAgent('https://agent.invalid/v1');
  const id = await publishAgent(
    creator,
    {
      ...manifest,
      ...(mode === 'declarative' ? { system_prompt } : { entrypoint_url: 'https://agent.invalid/run' }),
    },
    { unverified: true },
  );
  agents.set(mode, { creator, renter: await newParticipant(marketplace), id });
}

beforeAll(async () => {
  model = await startModelStandIn();
  void (async () => {
    for (;;) (await model.nextCall()).answer(ANSWER);
  })();
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, withoutExamples(model.baseUrl));
  for (const mode of MODES) await sell(mode);
}, 120_000);
afterAll(async () => {
  await marketplace?.stop();
  await model?.close();
  await removeStateDir(stateDir);
});

/** A value as text, without the parts that differ between any two listings, runs and wallets. */
function alike(mode: Mode, value: unknown): string {
  const { id, renter, creator } = agentOf(mode);
  return (
    JSON.stringify(value)
      .replaceAll(/eyJ[\w.-]+/g, '<signed>')
      .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\b(?:[\da-f]{64}|[\da-f]{32})\b/g, '<id>')
      .replaceAll(id, '<agent>')
      .replaceAll(id.replaceAll('-', '_'), '<agent>')
      .replaceAll(renter.signer.address, '<renter>')
      .replaceAll(creator.signer.address, '<creator>')
      .replaceAll(/\w{4}\.\.\.\w{4}/g, '<short address>')
      // The documents behind addresses are compared themselves.
      .replaceAll(/ipfs:\/\/\w+|[1-9A-HJ-NP-Za-km-z]{43,88}/g, '<key>')
      .replaceAll(/"(\w+_ms|p50|p95)":\d+/g, '"$1":0')
      // A charge is confirmed when it is, in either mode.
      .replaceAll(/"earned_lamports":\d+/g, '"earned_lamports":0')
      // Only its creator reads which part of an agent was not reached.
      .replaceAll(/"class":"(?:model|endpoint)_unreachable"/g, '"class":"<unreachable>"')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
  );
}

async function get(mode: Mode, who: 'creator' | 'renter', path: string): Promise<string> {
  const { id, [who]: party } = agentOf(mode);
  const { status, body } = await call(marketplace, 'GET', path.replace(':id', id), { token: party.token });
  expect(status, path).toBe(200);
  return alike(mode, body);
}

/** The listing's own tool, as the official MCP client is given it. */
async function mcpTool(mode: Mode): Promise<string> {
  const { id, renter } = agentOf(mode);
  const client = new Client({ name: 'a-client-that-is-not-ours', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', marketplace.dev.base_url), {
      requestInit: { headers: { authorization: `Bearer ${renter.token}` } },
    }),
  );
  try {
    const { tools } = await client.listTools();
    return alike(
      mode,
      tools.find((tool) => JSON.stringify(tool).includes(id)),
    );
  } finally {
    await client.close();
  }
}

/** Asks both modes, and expects the same answer of each. @returns the answer */
async function expectAlike(read: (mode: Mode) => Promise<string>): Promise<string> {
  const declarative = await read('declarative');
  expect(await read('connected')).toBe(declarative);
  return declarative;
}

const runOf = (mode: Mode, input: Record<string, string>) => {
  const { id, renter } = agentOf(mode);
  return renter.client.execute({ agent_id: id, task: 'Answer.', input });
};

/** The listing and the document that it names, which anyone can read. */
async function publicFace(mode: Mode): Promise<string> {
  const { id, renter } = agentOf(mode);
  const listing = await renter.client.getListing(id);
  expect(listing.sample_output).toHaveLength(1);
  const cid = listing.metadata_uri?.replace('ipfs://', '') ?? '';
  const document = (await (await fetch(new URL(`/ipfs/${cid}`, marketplace.dev.base_url))).json()) as object;
  expect(document).toHaveProperty('input_schema');
  return alike(mode, [listing, document]);
}

/** Expects the same public data, statistics, search result and run of both modes. */
async function expectSameFaces(): Promise<void> {
  await expectAlike(publicFace);
  await expectAlike((mode) => get(mode, 'renter', '/v1/listings/:id?version=1'));
  await expectAlike((mode) => get(mode, 'creator', '/v1/agents/:id/stats'));
  await expectAlike(async (mode) => {
    const { listings } = await agentOf(mode).renter.client.searchListings({ limit: 100 });
    return alike(
      mode,
      listings.find(({ id }) => id === agentOf(mode).id),
    );
  });
  await expectAlike(async (mode) => {
    const { client } = agentOf(mode).renter;
    const [run] = (await client.listRuns({ limit: 1 })).runs;
    if (!run) throw new Error('There is no run.');
    const { log: _, ...receipt } = await client.getReceipt(run.run_id);
    return alike(mode, [run, await client.getRun(run.run_id), receipt]);
  });
}

/** Expects the same rentals and tools of both modes. @returns the rentals and the MCP tool */
async function expectSameRentals(): Promise<string> {
  const credentials = await expectAlike((mode) => get(mode, 'renter', '/v1/credentials?include=listing'));
  for (const format of ['mcp', 'openai', 'json_schema']) {
    await expectAlike((mode) => get(mode, 'renter', `/v1/tools?format=${format}`));
  }
  return credentials + (await expectAlike(mcpTool));
}

test('a free run, its receipt, the listing and the numbers of its creator do not tell how an agent is made [EXE-34, REG-15]', async () => {
  const ran = await expectAlike(async (mode) => alike(mode, await runOf(mode, {})));
  expect(ran).toContain('"trial":true');
  await expectSameFaces();
});

test('a rental, a pin, a breaking version and its notice to renters do not tell how an agent is made [EXE-34, REG-15]', async () => {
  for (const mode of MODES) {
    const { id, renter, creator } = agentOf(mode);
    await rent(renter.client, renter.signer, id, { deposit_lamports: 20 * PRICE });
    await runOf(mode, {});
    const { job_id } = await creator.client.updateAgent(id, SECOND);
    expect(await jobEnd(creator.client, job_id)).toMatchObject({ status: 'completed' });
  }
  expect(await expectSameRentals()).toContain('Changed since your last use, version 1 to 2, breaking');
  await expectAlike(async (mode) => alike(mode, await runOf(mode, { url: 'x' })));
  await expectSameFaces();
  await expectAlike(async (mode) => {
    const { id, renter } = agentOf(mode);
    return alike(mode, await renter.client.pinVersion(id, 1));
  });
  expect(await expectSameRentals()).toContain('"pinned_version":1');
  await expectAlike(async (mode) => alike(mode, await runOf(mode, {})));
  await expectSameFaces();
});

test('an unreachable agent and its failed run do not tell how an agent is made [EXE-34, REG-15]', async () => {
  for (const mode of MODES) {
    await sellUnreachable(mode);
    const { id, renter } = agentOf(mode);
    await rent(renter.client, renter.signer, id, { deposit_lamports: 20 * PRICE });
  }
  expect(await expectAlike(publicFace)).toContain('"unverified_since"');
  const ran = await expectAlike(async (mode) => {
    const thrown: unknown = await runOf(mode, {}).catch((error: unknown) => error);
    if (!isApiError(thrown)) throw new Error('The run did not fail.');
    const { code, message, runId: _, ...rest } = thrown;
    return alike(mode, { code, message, ...rest });
  });
  expect(ran).toContain('The agent cannot be reached');
  await expectSameFaces();
  await expectSameRentals();
});
