import { createHash } from 'node:crypto';
import { publish, rent } from '@agent-rental/sdk/solana';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { jobEnd, textAgent } from '../support/agents/agents.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const PICTURE = PNG.sync.write(new PNG({ width: 64, height: 64 }));

let stateDir: string;
let marketplace: OwnMarketplace;
let renter: Participant;
/** A listing with a picture, and one without. */
let shown: string;
let plain: string;
beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off' });
  const owner = await newParticipant(marketplace);
  renter = await newParticipant(marketplace);
  const sell = async (icon?: string) => {
    const manifest = textAgent('https://agent.invalid/v1');
    const listing = { ...manifest.listing, ...(icon === undefined ? {} : { icon }) };
    const job = await owner.client.registerAgent({ ...manifest, listing });
    const id = (await jobEnd(owner.client, job.job_id)).result?.listing_id ?? '';
    await publish(owner.client, owner.signer, id, { unverified: true });
    await rent(renter.client, renter.signer, id, {}, { approve: () => true });
    return id;
  };
  shown = await sell(PICTURE.toString('base64'));
  plain = await sell();
}, 120_000);
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

/** The server, its tools and resources, as a client of the official SDK hears of them. */
async function heardBy(version: 'v1' | 'v2') {
  const url = new URL(marketplace.dev.mcp_url);
  const options = { requestInit: { headers: { authorization: `Bearer ${renter.token}` } } };
  const about = { name: 'a-client-with-pictures', version: '1.0.0' };
  const client = version === 'v1' ? new ClientV1(about) : new ClientV2(about);
  if (client instanceof ClientV1) await client.connect(new HttpV1(url, options));
  else await client.connect(new HttpV2(url, options));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  const { resources } = await client.listResources();
  return { server: client.getServerVersion(), tools, resources };
}

const get = (url = '') => fetch(url).then(async (answer) => Buffer.from(await answer.arrayBuffer()));

test.each(['v1', 'v2'] as const)(
  'the server, and each rented agent with a picture, has an icon for the official SDK %s [LST-54]',
  async (version) => {
    const { server, tools, resources } = await heardBy(version);
    const mark = `${marketplace.dev.base_url}/icon.png`;
    expect(server?.icons).toEqual([{ src: mark, mimeType: 'image/png', sizes: ['128x128'] }]);
    const { width, height } = PNG.sync.read(await get(mark));
    expect([width, height]).toEqual([128, 128]);

    const src = `${marketplace.dev.base_url}/icons/${createHash('sha256').update(PICTURE).digest('hex')}`;
    expect(await get(src)).toEqual(PICTURE);
    const withIcons = tools.filter(({ icons }) => icons !== undefined);
    expect(withIcons).toMatchObject([{ name: shown.replaceAll('-', '_'), icons: [{ src }] }]);
    expect(tools.map(({ name }) => name)).toContain(plain.replaceAll('-', '_'));
    expect(resources.map(({ uri, icons }) => [uri, icons])).toEqual(
      expect.arrayContaining([
        [`agent-rental://listings/${shown}`, [{ src }]],
        [`agent-rental://listings/${plain}`, undefined],
      ]),
    );
  },
);

test('the cards of A2A and the MCP server card name the same pictures [LST-54]', async () => {
  const { base_url: base } = marketplace.dev;
  const cardAt = async (path: string) => (await call(marketplace, 'GET', path)).body;
  expect(await cardAt('/.well-known/agent-card.json')).toMatchObject({ iconUrl: `${base}/icon.png` });
  expect(await cardAt(`/a2a/${shown}/.well-known/agent-card.json`)).toMatchObject({
    iconUrl: expect.stringMatching(`^${base}/icons/[0-9a-f]{64}$`) as string,
  });
  expect((await cardAt(`/a2a/${plain}/.well-known/agent-card.json`))['iconUrl'] ?? '').toBe('');
  expect(await cardAt('/mcp/server-card')).toMatchObject({ icons: [{ src: `${base}/icon.png` }] });
});
