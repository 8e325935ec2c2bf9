import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApiKey, rent } from '@agent-rental/sdk/solana';
import { beforeAll, expect, inject, test } from 'vitest';
import { attach, type Marketplace } from '../support/marketplace.js';
import { newParticipant } from '../support/participant.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

let marketplace: Marketplace;
let snippets: Map<string, string>;
let key: string;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  const { id } = marketplace.listing('per_query');
  const renter = await newParticipant(marketplace);
  await rent(renter.client, renter.signer, id, { deposit_lamports: 10_000_000 });
  ({ key } = await createApiKey(renter.client, renter.signer, 'snippets'));
  const page = await fetch(new URL(`/dashboard/listings/${id}`, marketplace.dev.base_url));
  snippets = new Map(
    [...(await page.text()).matchAll(/<pre [^>]*aria-label="([^"]*)"[^>]*>([^<]*)<\/pre>/g)].map(
      ([, name = '', text = '']) => [
        name,
        text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
      ],
    ),
  );
}, 60_000);

const runAs = async (program: string, args: string[]) => {
  const env = { ...process.env, AGENT_RENTAL_API_KEY: key };
  return (await run(program, args, { cwd: ROOT, env, timeout: 60_000 })).stdout;
};

test.each([
  ['curl', 'bash', ['-c']],
  ['Python', 'python3', ['-c']],
])('the %s text of a listing’s page runs the agent as it is [SVC-17]', async (name, program, args) => {
  const answer = await runAs(program, [...args, snippets.get(name) ?? '']);
  expect(answer).toMatch(/completed|failed/);
  expect(answer).toContain('run_id');
});

test.each(['LangChain', 'AI SDK'])(
  'the %s text of a listing’s page gives its tools [SVC-17]',
  async (name) => {
    const program = `${snippets.get(name)}\nconsole.log(Array.isArray(tools) ? tools.map(({ name }) => name) : Object.keys(tools));`;
    const tools = await runAs(process.execPath, ['--input-type=module', '-e', program]);
    expect(tools).toContain('expense');
  },
);

test('the MCP address of a listing’s page is the marketplace’s [SVC-17]', () => {
  const [address] =
    /http\S+/.exec(snippets.get('Claude, ChatGPT, Cursor, VS Code and other MCP clients') ?? '') ?? [];
  expect(address).toBe(marketplace.dev.mcp_url ?? new URL('/mcp', marketplace.dev.base_url).href);
});
