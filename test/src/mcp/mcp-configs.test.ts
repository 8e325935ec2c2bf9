import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ALWAYS_THERE_TOOLS } from '@agent-rental/contract';
import { SERVER_INSTRUCTIONS } from '@agent-rental/mcp-server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { IS_QUICK } from '../support/form.js';
import { pythonInFullForm, runPython } from '../support/toolchains/python-environment.js';
import { attach, type Marketplace } from '../support/marketplace.js';

const FOLDER = fileURLToPath(new URL('../../../examples/mcp/', import.meta.url));
const PACKAGE = '@agent-rental/mcp-server';
/** As a marketplace of `npm start` serves it. */
const SERVED = 'http://127.0.0.1:8787/packages/mcp-server.tgz';
const BIN = fileURLToPath(new URL('bin.js', import.meta.resolve(PACKAGE)));
const REQUIREMENTS = fileURLToPath(new URL('mcp-clients/python-requirements.txt', import.meta.url));

/** How a client starts a server. */
interface Entry {
  command: string;
  args: string[];
  env: Record<string, string>;
}

let marketplace: Marketplace;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
});

const read = (name: string) => readFile(FOLDER + name, 'utf8');

/** The entries under `agent-rental` in a configuration, wherever its client keeps them. */
async function entryOf(name: string): Promise<Entry> {
  const text = await read(`clients/${name}`);
  if (name.endsWith('.json')) {
    const {
      mcpServers,
      servers,
      context_servers: context,
    } = JSON.parse(text) as Record<string, Record<string, Entry> | undefined>;
    const entry = (mcpServers ?? servers ?? context)?.['agent-rental'];
    if (!entry) throw new Error(`${name} names no server agent-rental.`);
    return entry;
  }
  // A command line or TOML: the same words, with other marks around them.
  const env = Object.fromEntries(
    [...text.matchAll(/(AGENT_RENTAL_\w+)(?: = |=)"?([^\s",]+)"?/g)].map(([, key = '', value = '']) => [
      key,
      value,
    ]),
  );
  const [, args = ''] =
    /npx"?\s*\n?(?:args = \[)?(.*?)\]?\n/s.exec(text.replace('command = "npx"\n', 'npx ')) ?? [];
  return {
    command: 'npx',
    args: args.match(/[\w/:.-]*\w[\w/:.-]*/g)?.filter((word) => word !== 'args') ?? [],
    env,
  };
}

/** Starts the server as a configuration says, from this repository, with working values; gives the tools' names. */
async function toolsBy({ env }: Entry): Promise<string[]> {
  const values: Record<string, string> = {
    AGENT_RENTAL_URL: marketplace.dev.base_url,
    AGENT_RENTAL_API_KEY: marketplace.apiKey,
    AGENT_RENTAL_WALLET: marketplace.dev.wallets.renter,
  };
  const client = new Client({ name: 'configured', version: '1.0.0' });
  const working = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, values[name] ?? value]),
  );
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BIN], env: working }));
  onTestFinished(() => client.close());
  return (await client.listTools()).tools.map(({ name }) => name);
}

const configurations = await readdir(`${FOLDER}clients`);

describe('the MCP configurations of the examples', () => {
  test.each(configurations)('%s starts the server with settings that it knows', async (name) => {
    const { command, args, env } = await entryOf(name);
    expect({ command, args }).toEqual({ command: 'npx', args: ['-y', SERVED] });
    const { stdout: help } = await promisify(execFile)(process.execPath, [BIN, '--help']);
    expect(Object.keys(env)).toContain('AGENT_RENTAL_URL');
    for (const setting of Object.keys(env)) expect(help).toContain(setting);
    expect(await read('README.md')).toContain(`clients/${name}`);
  });

  // The others have the same values under other names.
  test.each(['claude-desktop.json', 'paying.json'])(
    'the server of %s has the tools [ADP-4]',
    async (name) => {
      const names = await toolsBy(await entryOf(name));
      expect(names).toEqual(expect.arrayContaining(['search_listings', 'hire', 'run_agent']));
    },
  );

  test('the links that install it hold the same configuration', async () => {
    const text = await read('README.md');
    const expected = await entryOf('cursor.json');
    const [, cursor = ''] = /`(cursor:[^`]+)`/.exec(text) ?? [];
    const config = new URL(cursor).searchParams.get('config') ?? '';
    expect(JSON.parse(Buffer.from(config, 'base64').toString())).toEqual(expected);
    const [, vscode = ''] = /`vscode:mcp\/install\?([^`]+)`/.exec(text) ?? [];
    expect(JSON.parse(decodeURIComponent(vscode))).toEqual({
      name: 'agent-rental',
      type: 'stdio',
      ...expected,
    });
  });

  test('the bundle’s manifest and the registry’s entry describe the server', async () => {
    const manifest = JSON.parse(await read('mcpb/manifest.json')) as {
      version: string;
      server: { entry_point: string; mcp_config: { args: string[]; env: Record<string, string> } };
      tools: { name: string }[];
      user_config: Record<string, object>;
    };
    const entry = JSON.parse(await read('server.json')) as {
      description: string;
      version: string;
      packages: { identifier: string; version: string; environmentVariables: { name: string }[] }[];
    };
    const { version } = JSON.parse(
      await readFile(new URL('../package.json', import.meta.resolve(PACKAGE)), 'utf8'),
    ) as { version: string };
    expect([manifest.version, entry.version, entry.packages[0]?.version]).toEqual([
      version,
      version,
      version,
    ]);
    expect(entry.packages[0]?.identifier).toBe(PACKAGE);
    // The registry accepts no longer text.
    expect(entry.description.length).toBeLessThanOrEqual(100);

    const { server } = manifest;
    expect(server.mcp_config.args).toEqual([`\${__dirname}/${server.entry_point}`]);
    expect(server.entry_point).toBe(`node_modules/${PACKAGE}/dist/bin.js`);
    const asked = Object.values(server.mcp_config.env).map(
      (value) => /^\$\{user_config\.(\w+)\}$/.exec(value)?.[1],
    );
    expect(new Set(asked)).toEqual(new Set(Object.keys(manifest.user_config)));
    const { stdout: help } = await promisify(execFile)(process.execPath, [BIN, '--help']);
    for (const name of Object.keys(server.mcp_config.env)) expect(help).toContain(name);
    for (const { name } of entry.packages[0]?.environmentVariables ?? []) expect(help).toContain(name);

    const fixed = Object.keys(ALWAYS_THERE_TOOLS);
    expect(manifest.tools.map(({ name }) => name)).toEqual(fixed);
    expect((await toolsBy(await entryOf('cursor.json'))).slice(0, fixed.length)).toEqual(fixed);
    const readme = await readFile(new URL('../../../packages/tools/README.md', import.meta.url), 'utf8');
    for (const text of [SERVER_INSTRUCTIONS, readme])
      expect(fixed.filter((name) => !text.includes(name))).toEqual([]);
  });
});

const registry = await pythonInFullForm(
  fileURLToPath(new URL('mcp-clients/registry-requirements.txt', import.meta.url)),
);
const python = await pythonInFullForm(REQUIREMENTS);

test.skipIf(IS_QUICK)(
  'LangChain in Python runs a rented agent in six lines [ADP-4]',
  async () => {
    if ('missing' in python) throw new Error(python.missing);
    const script = `${FOLDER}langchain_mcp.py`;
    expect((await readFile(script, 'utf8')).trim().split('\n')).toHaveLength(6);
    const { stdout } = await promisify(execFile)(python.python, [script], {
      env: {
        AGENT_RENTAL_MCP_URL: marketplace.dev.mcp_url,
        AGENT_RENTAL_API_KEY: marketplace.apiKey,
        REQUEST: JSON.stringify(await marketplace.request('per_query')),
      },
    });
    expect(stdout).toContain('totals');
  },
  120_000,
);

test.skipIf(IS_QUICK)(
  'the registry’s own schema takes server.json, and refuses a broken one [SVC-15]',
  async () => {
    if ('missing' in registry) throw new Error(registry.missing);
    const script = fileURLToPath(new URL('mcp-clients/registry_entry.py', import.meta.url));
    const entry = JSON.parse(await read('server.json')) as object;
    expect(await runPython(registry.python, script, entry)).toEqual([]);
    const broken = { ...entry, name: 'no-namespace', description: '' };
    expect(await runPython(registry.python, script, broken)).toHaveLength(2);
  },
  120_000,
);
