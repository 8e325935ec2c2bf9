import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { configurations } from '../../../server/dist/dashboard/browser/configurations.js';
import { whatToTry } from '../../../server/dist/embedded/welcome.js';
import { faultOf } from '../docs/command-faults.js';
import { blocksOf, commandLines, commandSpans, READ, type Block } from '../docs/commands.js';
import { readText, ROOT } from '../docs/repository.js';
import { FORM, IS_QUICK } from '../support/form.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { entryIn, toolsOf } from '../support/mcp-entry.js';
import { newRenter } from '../support/renter.js';

const run = promisify(execFile);

/** Why a block does not run in the tests. */
const NEEDS = {
  client: 'needs a client of another vendor, with an account',
  deployment: 'needs a deployment: a cluster, Prometheus, or servers of two releases',
  nothing: 'shows a request of the marketplace',
} as const;

/** By document and language: the test that takes the blocks from there and runs them, or why none does. */
const ACCOUNTS: readonly [blocks: RegExp, by: string][] = [
  [/^docs\/a2a\.md js$/, 'test/src/a2a/a2a.test.ts'],
  [/^docs\/clients\/.* (?:js|python)$/, 'test/src/docs/client-pages.test.ts'],
  [/^docs\/clients\/claude-code\.md sh$/, NEEDS.client],
  [/^docs\/containers\.md sh$/, 'resilience/src/containers/main.ts'],
  [/^docs\/containers\.md sh (?:kubernetes|upgrade)$/, NEEDS.deployment],
  [/^docs\/creators\.md json$/, NEEDS.nothing],
  [/^docs\/creators\.md sh$/, 'test/src/clients/creator-cli.test.ts'],
  [/^docs\/creators\.md (?:ts|python)$/, 'test/src/docs/creators.test.ts'],
  [/^docs\/devnet\.md sh/, 'test/src/service/devnet.test.ts'],
  [/^docs\/events\.md sh$/, 'test/src/docs/creators.test.ts'],
  [/^docs\/events\.md ts$/, 'test/src/events/following.test.ts'],
  [/^docs\/http-tools\.md js$/, 'test/src/clients/tools.test.ts'],
  [/^docs\/pay-per-call\.md (?:http|json)$/, NEEDS.nothing],
  [/^docs\/pay-per-call\.md (?:js|sh)$/, 'test/src/money/pay-per-call.test.ts'],
  [/^docs\/pay-per-call\.md (?:js|sh) sdk$/, 'test/src/money/paying-client.test.ts'],
  [/^docs\/pay-per-call\.md (?:js|sh) usdc(?:-test)?$/, 'test/src/clients/x402.test.ts'],
  [/^docs\/operations\.md sh$/, 'resilience/src/faults/restore-drill/drill-support.ts'],
  [/^docs\/operations\.md yaml$/, NEEDS.deployment],
  [/^(?:README|docs\/python)\.md python$/, 'test/src/clients/python-package.test.ts'],
  [/^docs\/receipts\.md (?:js|sh)$/, 'test/src/money/run-log.test.ts'],
  [/^docs\/wallets\.md sh$/, 'test/src/identity/confirmed-changes.test.ts'],
  [/^examples\/README\.md sh$/, 'test/src/clients/examples.test.ts'],
  [/^packages\/cli\/templates\/shared\/AGENTS\.md sh$/, 'test/src/clients/templates.test.ts'],
  [/^packages\/\S+\/README\.md ts$/, 'packages/stand-in/src/readmes/readmes.test.ts'],
  [/^packages\/python\/README\.md sh$/, 'test/src/clients/python-package.test.ts'],
  [/^packages\/cli\/README\.md sh$/, 'packages/stand-in/src/readmes/readmes.test.ts'],
];
/** Programs that run as they are written, and their output. */
const PROGRAMS: Readonly<Record<string, RegExp>> = {
  'README.md js': /^completed \d+ \S/,
  'docs/wallets.md js': /signature: '\w{80}/,
  'docs/wallets.md js program': /^DPoP \d+$/m,
};
/** Languages of blocks without a command or a program. */
const PICTURES = ['mermaid', 'text', ''];

const blocks = READ.flatMap((document) => blocksOf(document));
const nameOf = ({ document, language }: Block) => `${document} ${language}`;
const isProgram = (block: Block) => nameOf(block) in PROGRAMS;
const isConfiguration = ({ language, code }: Block) =>
  (language === 'json' || language === 'yaml') && entryIn(code) !== undefined;
const linesOf = ({ language, code }: Block) =>
  language === 'sh' || language === '' ? commandLines(code) : undefined;

/** Each command outside of blocks, and each line of a block that has commands alone. */
const written = READ.flatMap((document) => [
  ...commandSpans(readText(document)).map((command) => ({ document, command })),
  ...blocks
    .filter((block) => block.document === document)
    .flatMap((block) => (linesOf(block) ?? []).map((command) => ({ document, command }))),
]);

/** How a test may name a document that it reads: by its file, its folder of pages, or its package. */
function namesOf(path: string): string[] {
  const folder = dirname(path);
  const file = basename(path) === 'README.md' ? basename(folder) : basename(path);
  return folder.includes('/') ? [file, folder] : [file];
}

let marketplace: Marketplace;
/** Text with this marketplace and the reader's key in their places. */
let here: (text: string) => string;
beforeAll(async () => {
  marketplace = await attach(inject('stateDir'));
  const { base_url: base, rpc_url: rpc } = marketplace.dev;
  here = (text) =>
    text
      .replaceAll(/http:\/\/127\.0\.0\.1:8787|https:\/\/market(?:place)?\.example/g, base)
      .replaceAll('http://127.0.0.1:8899', rpc)
      .replaceAll(/ark_(?:dev_)?\.\.\.|\$?\{(?:env|input):[^}]*\}|\$TOKEN\b/g, marketplace.apiKey);
});

/** Installations of served packages. CI plays the programs; `served-packages.test.ts` installs the libraries of an agent. */
const installs = new Set(
  written
    .map(({ command }) => command)
    .filter((command) => /^npm install .*\.tgz/.test(command))
    .filter((command) => FORM === 'full' || command.includes('--global')),
);
/** The commands of served packages. */
const COMMANDS: Readonly<Record<string, string>> = {
  'agent-rental': 'agent-rental',
  'mcp-server': 'agent-rental-mcp',
};
/** Sources whose texts tell people and agents what to run. */
const SAYING = ['packages/cli/src/*.ts', 'server/src/*.ts', ':!*.test.ts', ':!*.test-support.ts'];
const TOLD = /npm run [\w:]+(?: -- [^"'`\n.;,]*)?|(?<![/\w])agent-rental [a-z][^"'`\n]*/g;

/** npm in a folder, with a cache of these tests: the packages of this marketplace stay out of the person's. */
let cache: string;
beforeAll(async () => void (cache = await mkdtemp(join(tmpdir(), 'agent rental npm '))));
afterAll(() => rm(cache, { recursive: true }));
const npmIn = (folder: string) => ({
  ...(process.env as Record<string, string>),
  npm_config_cache: cache,
  npm_config_prefix: folder,
});

/** The tools of the server in a configuration, with a key where the client asks for it elsewhere. */
async function toolsHere(text: string, folder: string): Promise<string[]> {
  const entry = entryIn(text);
  if (entry === undefined) throw new Error(`No server in ${text}`);
  const bearer = 'url' in entry && entry.authorization === '' ? { authorization: marketplace.apiKey } : {};
  return toolsOf({ ...entry, ...bearer }, folder, npmIn(folder));
}

/** The blocks on a page. */
async function preAt(path: string): Promise<string[]> {
  const html = await (await fetch(marketplace.dev.base_url + path)).text();
  return [...html.matchAll(/<pre[^>]*>([^]*?)<\/pre>/g)].map(([, code = '']) =>
    code.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  );
}

/** How the configurations of the page of keys are used that name no MCP server. */
const CONFIGURED: Readonly<Record<string, (text: string) => Promise<unknown>>> = {
  // It needs Claude Code.
  'Claude Code': async () => undefined,
  'LangChain and AI SDK': (text) =>
    run(process.execPath, ['--input-type=module', '-e', `${text}\nawait client.listCredentials();`], {
      cwd: ROOT,
    }),
  curl: async (text) => expect((await run('bash', ['-c', text])).stdout).toContain('"credentials":['),
};

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental commands '));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe('what documents tell their readers to run', () => {
  test('is in blocks that this test or another one runs', () => {
    const isKnown = (block: Block) =>
      PICTURES.includes(block.language) ||
      ACCOUNTS.some(([which]) => which.test(nameOf(block))) ||
      isProgram(block) ||
      isConfiguration(block) ||
      linesOf(block) !== undefined;
    expect(blocks.filter((block) => !isKnown(block))).toEqual([]);
    for (const [which, by] of ACCOUNTS) {
      const documents = blocks.filter((block) => which.test(nameOf(block))).map(({ document }) => document);
      expect(documents, `${which}`).not.toEqual([]);
      if (Object.values<string>(NEEDS).includes(by)) continue;
      const source = readText(by);
      expect(documents.filter((path) => !namesOf(path).some((name) => source.includes(name)))).toEqual([]);
    }
  });

  test('exists, with the options that it names', async () => {
    expect(written.length).toBeGreaterThan(200);
    const faults = await Promise.all(
      written.map(({ command, document }) => faultOf(command, document, here)),
    );
    expect(faults.filter(Boolean)).toEqual([]);
  });

  test.each(blocks.filter(isProgram))('in $document runs as a program', async (block) => {
    const args = ['--input-type=module', '-e', here(block.code)];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT });
    expect(stdout).toMatch(PROGRAMS[nameOf(block)] ?? '');
  });

  test.skipIf(IS_QUICK)('in configurations of MCP clients starts or reaches the server', async () => {
    const folder = await newFolder();
    const entries = blocks.filter(isConfiguration).map(({ code }) => here(code));
    for (const text of new Set(entries.map((code) => JSON.stringify(entryIn(code)))))
      expect(await toolsHere(text, folder), text).toContain('search_listings');
  });

  test.skipIf(IS_QUICK).each([...installs])(
    'as "%s" installs a package in an empty folder',
    async (command) => {
      const folder = await newFolder();
      await run('bash', ['-c', here(command)], { cwd: folder, env: npmIn(folder) });
      const [, name = ''] = /packages\/([\w-]+)\.tgz/.exec(command) ?? [];
      const program = `await import('@agent-rental/${name}')`;
      const bin = command.includes('--global') ? 'bin' : 'node_modules/.bin';
      const used = COMMANDS[name]
        ? `${bin}/${COMMANDS[name]} --help`
        : `node --input-type=module -e "${program}"`;
      await run('bash', ['-c', used], { cwd: folder });
    },
    180_000,
  );
});

describe('commands that the marketplace tells its users', () => {
  test('when it starts, runs a rented agent and has MCP clients reach it', async () => {
    const folder = await newFolder();
    const said = whatToTry(marketplace.dev).join('\n');
    const [, curl = ''] = /Run one with curl:\n([^]*?)\n\n/.exec(said) ?? [];
    expect((await run('bash', ['-c', curl])).stdout).toContain('"status":"completed"');
    const configurations = [...said.matchAll(/^  \{$[^]*?^  \}$/gm)].map(([text]) => text);
    expect(configurations).toHaveLength(2);
    for (const text of configurations) expect(await toolsHere(text, folder)).toContain('search_listings');
  });

  test.skipIf(IS_QUICK)('on the page of a rental, rents', async () => {
    const folder = await newFolder();
    const { wallet } = await newRenter(marketplace);
    await writeFile(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]), { mode: 0o600 });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const [program = ''] = await preAt(`/dashboard/rent/${marketplace.listing('per_query').id}`);
    await writeFile(join(folder, 'rent.mjs'), program);
    const { stdout } = await run('node', ['rent.mjs'], { cwd: folder });
    expect(stdout).toContain("status: 'active'");
  });

  test('on the page of keys, configures clients with the new key', async () => {
    const { base_url: base, mcp_url: mcp } = marketplace.dev;
    const texts = configurations(mcp, base, marketplace.apiKey);
    expect(texts.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(CONFIGURED)));
    const folder = await newFolder();
    for (const { name, text } of texts) await (CONFIGURED[name] ?? toolsHere)(text, folder);
  });

  test.skipIf(IS_QUICK)('on the page of keys, starts the programs', async () => {
    const folder = await newFolder();
    const commands = (await preAt('/dashboard/keys')).filter((text) => text.startsWith('npx '));
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const { stdout } = await run('bash', ['-c', command], { cwd: folder, env: npmIn(folder) });
      expect(stdout).toMatch(/^Usage: agent-rental|^agent-rental-mcp: /);
    }
  });

  test('in the guide for agents is the program that another test runs', async () => {
    const guide = await (await fetch(`${marketplace.dev.base_url}/AGENTS.md`)).text();
    expect(blocksOf('/AGENTS.md', guide).map(({ language }) => language)).toEqual(['js']);
    expect(readText('test/src/service/discovery.test.ts')).toContain("textOf('/AGENTS.md')");
  });

  test('in helps and errors exists, with the options that they name', async () => {
    const { stdout } = await run('git', ['grep', '-hE', '(npm|npx|agent-rental) [a-z]', '--', ...SAYING], {
      cwd: ROOT,
    });
    const commands = [...stdout.matchAll(TOLD)].map(([command]) => command);
    expect(commands.length).toBeGreaterThan(50);
    const faults = await Promise.all(commands.map((command) => faultOf(command, 'package.json', here)));
    expect(faults.filter(Boolean)).toEqual([]);
  });
});
