import { createApiKey, rent } from '@agent-rental/sdk/solana';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { PRICE } from '../support/agents/agents.js';
import { newParticipant, type Participant } from '../support/participant.js';
import { startOperatedMarketplace, type OperatedMarketplace } from '../service/operated-marketplace.js';

const PATIENCE = { timeout: 30_000 };

let market: OperatedMarketplace;
let agentId: string;
beforeAll(async () => {
  market = await startOperatedMarketplace();
  market.model.always('An answer.');
  agentId = await market.publish(market.creator);
}, 120_000);
afterAll(() => market?.close());

/** A client of the newest revision, under a key of the wallet, and all that it hears. */
async function connect(owner: Participant) {
  const { key, id } = await createApiKey(owner.client, owner.signer, 'listens');
  const client = new Client(
    { name: 'listens', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const heard: string[] = [];
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'));
  client.setNotificationHandler('notifications/resources/list_changed', () => void heard.push('resources'));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  );
  const url = new URL(market.marketplace.dev.mcp_url);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
  onTestFinished(() => client.close());
  return { client, heard, keyId: id };
}
const everything = (...uris: string[]) => ({
  toolsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: uris,
});

test('a client that listens hears of rentals as changes of tools, and of the end of a run as its new resource [EVT-11]', async () => {
  const [owner, other] = [await newParticipant(market.marketplace), await newParticipant(market.marketplace)];
  const { client, heard } = await connect(owner);
  const stranger = await connect(other);
  await stranger.client.listen(everything());
  const listing = `agent-rental://listings/${agentId}`;
  const rentals = await client.listen(everything(listing));
  expect(rentals.honoredFilter).toEqual(everything(listing));
  await rent(owner.client, owner.signer, agentId, { deposit_lamports: 20 * PRICE });
  await expect.poll(() => heard, PATIENCE).toEqual(['tools', 'resources', listing]);
  const { tools } = await client.listTools();
  expect(tools.some(({ title }) => title?.startsWith('Rented agent'))).toBe(true);
  await rentals.close();

  market.model.always(undefined);
  const started = client.callTool({ name: 'run_agent', arguments: { agent_id: agentId, task: 'Answer.' } });
  const asked = await market.model.nextCall();
  const { runs } = await owner.client.listRuns({ limit: 1 });
  const run = `agent-rental://runs/${runs[0]?.run_id}`;
  heard.length = 0;
  await client.listen(everything(run, `${run}/receipt`));
  asked.answer('An answer.');
  await started;
  await expect.poll(() => heard, PATIENCE).toEqual([run, `${run}/receipt`]);
  expect((await client.readResource({ uri: `${run}/receipt` })).contents).toHaveLength(1);
  expect(stranger.heard).toEqual([]);
});

test('a client hears of nothing more after its key was revoked [EVT-11]', async () => {
  const owner = await newParticipant(market.marketplace);
  const { client, heard, keyId } = await connect(owner);
  const subscription = await client.listen(everything());
  await owner.client.revokeApiKey(keyId);
  expect(await subscription.closed).toBe('graceful');
  await rent(owner.client, owner.signer, agentId, { deposit_lamports: PRICE });
  expect(heard).toEqual([]);
});
