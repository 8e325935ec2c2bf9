import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { aiCatalog, RENTAL_MODELS, serverCard } from '@agent-rental/contract';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { operationsOf } from '../support/operations.js';
import { newRenter } from '../support/renter.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CARD_TYPE = 'application/mcp-server-card+json';

let marketplace: Marketplace;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, marketplace.dev.base_url), { headers });
const textOf = async (path: string) => (await get(path)).text();

describe('a client that knows the address alone', () => {
  test('finds the MCP server by the catalog and its card [SVC-15]', async () => {
    const listed = await get('/.well-known/ai-catalog.json');
    expect(listed.headers.get('content-type')).toContain('application/ai-catalog+json');
    const [entry] = aiCatalog.parse(await listed.json()).entries;
    expect(entry).toMatchObject({ type: CARD_TYPE, url: `${marketplace.dev.base_url}/mcp/server-card` });

    const shown = await get(entry?.url ?? '', { accept: CARD_TYPE });
    expect(shown.headers.get('content-type')).toContain(CARD_TYPE);
    expect(shown.headers.get('access-control-allow-origin')).toBe('*');
    const card = serverCard.parse(await shown.json());
    const [remote] = card.remotes;
    expect(remote?.url).toBe(marketplace.dev.mcp_url);
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const authorization = `Bearer ${marketplace.apiKey}`;
    const answered = await fetch(remote?.url ?? '', {
      method: 'POST',
      headers: {
        [remote?.headers[0]?.name ?? '']: authorization,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
    });
    expect(answered.status).toBe(200);

    expect(await textOf('/.well-known/mcp/server-card.json')).toBe(await textOf('/mcp/server-card'));
    const entryOfRegistry = JSON.parse(await readFile(`${ROOT}examples/mcp/server.json`, 'utf8')) as object;
    const { name, version, description } = card;
    expect(entryOfRegistry).toMatchObject({ name, version, description });
  });

  test.each(['/mcp/server-card', '/.well-known/ai-catalog.json', '/llms.txt', '/AGENTS.md', '/robots.txt'])(
    'asks for %s again only when it has changed [SVC-15]',
    async (path) => {
      const first = await get(path);
      expect(first.headers.get('access-control-expose-headers')).toContain('ETag');
      const tag = first.headers.get('etag') ?? '';
      expect((await get(path, { 'if-none-match': tag })).status).toBe(304);
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  test('finds every agent on sale through the site map that robots.txt names [SVC-15]', async () => {
    const [, address = ''] = /^Sitemap: (\S+)$/m.exec(await textOf('/robots.txt')) ?? [];
    const urlsOf = async (url: string) =>
      [...(await (await fetch(url)).text()).matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, found = '']) => found);
    const urls = (await Promise.all((await urlsOf(address)).map(urlsOf))).flat();
    for (const { id } of marketplace.dev.listings) {
      const page = urls.find((url) => url.endsWith(`/dashboard/listings/${id}`));
      expect((await fetch(page ?? '')).status).toBe(200);
    }
  });

  test('reads in llms.txt only links that answer [SVC-15]', async () => {
    const links = [...(await textOf('/llms.txt')).matchAll(/\]\((\S+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(4);
    for (const link of links) expect([link, (await fetch(link)).status]).toEqual([link, 200]);
  });

  test('reads in AGENTS.md only operations that are there, and nothing of creators [SVC-15]', async () => {
    const guide = await textOf('/AGENTS.md');
    const described = (await operationsOf(marketplace)).map(({ method, path }) => `${method} ${path}`);
    const named = [...guide.matchAll(/`(GET|POST) (\/v1\/[\w/-]+)/g)].map(
      ([, method = '', path = '']) => `${method} ${path.replaceAll(/[A-Z][A-Z_]*/g, '{}')}`,
    );
    expect(named.length).toBeGreaterThan(8);
    for (const model of RENTAL_MODELS) expect(guide).toContain(`\`${model}\``);
    const known = described.map((operation) => operation.replaceAll(/\{\w+\}/g, '{}'));
    expect(known).toEqual(expect.arrayContaining(named));
    const both = guide + (await textOf('/llms.txt'));
    for (const { id, title } of marketplace.dev.listings) {
      expect(both).not.toContain(id);
      expect(both).not.toContain(title);
    }
  });

  test('rents and runs with the program of AGENTS.md as it is written [SVC-15]', async () => {
    const [, program = ''] = /```js\n([^]*?)```/.exec(await textOf('/AGENTS.md')) ?? [];
    const folder = await mkdtemp(join(tmpdir(), 'agent-rental-guide-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'rent.mjs'), program);
    const { wallet } = await newRenter(marketplace);
    await writeFile(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
    const { task, input } = await marketplace.request('per_query');
    const args = ['rent.mjs', 'wallet.json', 'expenses', String(task), JSON.stringify(input)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
    expect(stdout).toMatch(/completed \d+ \{/);
  });
});
