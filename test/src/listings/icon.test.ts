import { createHash } from 'node:crypto';
import { publish, rent } from '@agent-rental/sdk/solana';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { jobEnd, textAgent } from '../support/agents/agents.js';
import { call } from '../support/http.js';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  type OwnMarketplace,
} from '../support/marketplace.js';
import { newParticipant, type Participant } from '../support/participant.js';

const pictureOf = (width: number, height = width) => PNG.sync.write(new PNG({ width, height }));
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const ICON = pictureOf(64);

let stateDir: string;
let marketplace: OwnMarketplace;
let owner: Participant;
beforeAll(async () => {
  stateDir = await newStateDir();
  marketplace = await startMarketplace(stateDir, { EXAMPLES: 'off' });
  owner = await newParticipant(marketplace);
}, 120_000);
afterAll(async () => {
  await marketplace?.stop();
  await removeStateDir(stateDir);
});

const register = async (icon?: Buffer) => {
  const manifest = textAgent('https://agent.invalid/v1');
  const listing = { ...manifest.listing, ...(icon && { icon: icon.toString('base64') }) };
  return jobEnd(owner.client, (await owner.client.registerAgent({ ...manifest, listing })).job_id);
};
const get = (path: string) => fetch(marketplace.dev.base_url + path);
const iconsOf = (html: string) => html.match(/<img[^>]*>/g) ?? [];

test('an icon is on the cards and the page of a listing, is served by its hash, changed and removed [LST-54]', async () => {
  const id = (await register(ICON)).result?.listing_id ?? '';
  const path = `/icons/${createHash('sha256').update(ICON).digest('hex')}`;
  // A draft is its creator's alone.
  expect((await get(path)).status).toBe(404);
  await publish(owner.client, owner.signer, id, { unverified: true });
  const first = await owner.client.getListing(id);
  expect(first.icon_path).toBe(path);
  // A search result has its 13 fields and no icon.
  const { listings } = await owner.client.searchListings({});
  expect(listings.map((one) => [one.id, 'icon_path' in one])).toEqual([[id, false]]);

  const served = await get(path);
  expect(Object.fromEntries(served.headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect(Buffer.from(await served.arrayBuffer())).toEqual(ICON);
  for (const wrong of ['/icons/x', `/icons/${'0'.repeat(64)}`, `${path}.svg`, path.toUpperCase()]) {
    expect((await get(wrong)).status).toBe(404);
  }
  const shown = `<img class="agent-icon" src="${path}" alt loading="lazy"/>`;
  for (const page of [`/dashboard/listings/${id}`, `/creators/${owner.signer.address}`]) {
    expect(iconsOf(await (await get(page)).text())).toEqual([shown]);
  }

  const change = async (icon: string | null) =>
    jobEnd(owner.client, (await owner.client.updateAgent(id, { listing: { icon } })).job_id);
  const other = pictureOf(32);
  expect(await change(other.toString('base64'))).toMatchObject({ status: 'completed' });
  expect(await owner.client.getListing(id)).toMatchObject({
    version: first.version,
    metadata_uri: first.metadata_uri,
    icon_path: `/icons/${createHash('sha256').update(other).digest('hex')}`,
  });
  expect((await get(path)).status).toBe(404);
  await change(null);
  expect(await owner.client.getListing(id)).not.toHaveProperty('icon_path');
  expect(iconsOf(await (await get(`/dashboard/listings/${id}`)).text())).toEqual([]);
});

test.each([
  ['an SVG', SVG, 'is no PNG and no WebP'],
  ['a picture that is not square', pictureOf(64, 32), 'has 64 x 32 pixels; an icon is square'],
  ['too many bytes', Buffer.alloc(65_537), 'has 65537 bytes; the most is 65536'],
])('an icon is refused that is %s [LST-54]', async (_, icon, message) => {
  expect(await register(icon)).toMatchObject({
    status: 'failed',
    error: { details: [{ path: 'listing.icon', message }] },
  });
});

describe('in what programs are told', () => {
  let renter: Participant;
  /** A listing with a picture, and one without. */
  let shown: string;
  let plain: string;
  beforeAll(async () => {
    renter = await newParticipant(marketplace);
    const sell = async (icon?: Buffer) => {
      const id = (await register(icon)).result?.listing_id ?? '';
      await publish(owner.client, owner.signer, id, { unverified: true });
      await rent(renter.client, renter.signer, id, {}, { approve: () => true });
      return id;
    };
    shown = await sell(ICON);
    plain = await sell();
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

  const bytesAt = (url = '') => fetch(url).then(async (answer) => Buffer.from(await answer.arrayBuffer()));

  test.each(['v1', 'v2'] as const)(
    'the server, and each rented agent with a picture, has an icon for the official SDK %s [LST-54]',
    async (version) => {
      const { server, tools, resources } = await heardBy(version);
      const mark = `${marketplace.dev.base_url}/icon.png`;
      expect(server?.icons).toEqual([{ src: mark, mimeType: 'image/png', sizes: ['128x128'] }]);
      const { width, height } = PNG.sync.read(await bytesAt(mark));
      expect([width, height]).toEqual([128, 128]);

      const src = `${marketplace.dev.base_url}/icons/${createHash('sha256').update(ICON).digest('hex')}`;
      expect(await bytesAt(src)).toEqual(ICON);
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
});
