import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { Keypair } from '@solana/web3.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StandInListing } from '../listing.js';
import { createStandIn, STAND_IN_API_KEY, type StandIn } from '../stand-in.js';
import { codeBlocks, newProject, readReadme, runCode } from './run-readme.js';

const listings = (): StandInListing[] => [
  { id: 'expense-reconciler-k3x7qa', title: 'Reconcile expenses', rental: 'none', price_lamports: 500_000 },
  { id: 'echo-aaaaaa', title: 'Echo expenses' },
];

async function project(): Promise<string> {
  const { path, remove } = await newProject();
  onTestFinished(remove);
  return path;
}

/** Readies a code block for a marketplace of the test. */
async function against(standIn: StandIn): Promise<(code: string) => string> {
  const { baseUrl, close } = await standIn.listen();
  onTestFinished(close);
  return (code) =>
    code.replaceAll('http://127.0.0.1:8787', baseUrl).replaceAll('ark_dev_...', STAND_IN_API_KEY);
}

/** A Solana endpoint whose accounts do not exist. */
async function emptyChain(): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { id } = JSON.parse(body) as { id: string };
      const result = { context: { slot: 1 }, value: null };
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    })();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const walletFile = async (path: string): Promise<void> =>
  writeFile(path, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 });

/** Runs the code of each README, and expects the output that its text names. */
const RUNS: Readonly<Record<string, (blocks: readonly string[]) => Promise<void>>> = {
  contract: async ([code = '']) => {
    expect(await runCode(await project(), `${code}\nconsole.log(document.openapi);`)).toBe(
      'GET /v1/listings/:id false\n3.1.0\n',
    );
  },

  ed25519: async ([code = '']) => {
    const shown = code.replace('isPublicKey(publicKey);', 'console.log(isPublicKey(publicKey));');
    expect(await runCode(await project(), shown)).toBe('false\n');
  },

  'program-client': async ([code = '']) => {
    const url = await emptyChain();
    expect(await runCode(await project(), code.replace('http://127.0.0.1:8899', url))).toBe('');
  },

  'local-chain': async ([code = '']) => {
    const path = await project();
    await copyFile(marketplaceSoPath(), join(path, 'marketplace.so'));
    const anyPort = code.replace('await startLocalChain({', 'await startLocalChain({\n  rpcPort: 0,');
    const shown = anyPort.replace(
      'await chain.close',
      'console.log(await connection.getSlot() >= 0);\nawait chain.close',
    );
    expect(await runCode(path, shown)).toBe('true\n');
  },

  langchain: async ([code = '', streaming = '']) => {
    const ready = await against(createStandIn(listings()));
    const names = await runCode(
      await project(),
      `${ready(code)}\nconsole.log(tools.map(({ name }) => name).join());`,
    );
    expect(names).toContain('search_listings');
    expect(names).toContain('echo_aaaaaa');
    const calls = "[{ name: 'echo_aaaaaa', args: { task: 't' }, id: 'call_1' }]";
    const agent = `import { AIMessage } from '@langchain/core/messages';
import { createAgent, fakeModel } from 'langchain';
const model = fakeModel().respondWithTools(${calls}).respond(new AIMessage('Done.'));
const agent = createAgent({ model, tools });
const ask = { messages: [{ role: 'user', content: 'Go.' }] };`;
    const printed = `${streaming}\nawait printOutput(agent, ask);`;
    expect(await runCode(await project(), `${ready(code)}\n${agent}\n${printed}`)).toBe('working');
  },

  'ai-sdk': async ([code = '']) => {
    const ready = await against(createStandIn(listings()));
    const names = await runCode(await project(), `${ready(code)}\nconsole.log(Object.keys(tools).join());`);
    expect(names).toContain('search_listings');
    expect(names).toContain('echo_aaaaaa');
  },

  'agent-runner': async ([code = '']) => {
    expect(await runCode(await project(), code)).toMatch(/runner\.mjs parseRunnerMessage\n$/);
  },

  sandbox: async ([code = '']) => {
    expect(await runCode(await project(), code)).toContain('value: 42');
  },

  sdk: async ([search = '', rental = '', agent = '', ...exporting]) => {
    const standIn = createStandIn(listings().toReversed());
    const ready = await against(standIn);
    expect(await runCode(await project(), ready(search))).toBe('working\n');
    await runCode(await project(), ready(rental));
    expect(standIn.paid).toBe(10_000_000);
    const secret = { WEBHOOK_SECRET: `whsec_${Buffer.alloc(24, 1).toString('base64')}` };
    const served = agent.replace('9000', '0');
    await runCode(await project(), `${served}\nprocess.exit(0);`, { environment: secret });
    for (const code of exporting) await runCode(await project(), code, { environment: secret });
  },

  tools: async ([search = '', paying = '']) => {
    const standIn = createStandIn(listings());
    const ready = await against(standIn);
    const found = await runCode(await project(), ready(search));
    expect(found).toContain('expense-reconciler-k3x7qa');
    expect(standIn.requests.find(({ path }) => path === '/v1/listings')?.query.get('q')).toBe('expenses');
    const path = await project();
    await walletFile(join(path, 'agent-wallet.json'));
    const hired = await runCode(path, `${ready(paying)}\nprocess.exit(0);`, { input: 'yes\n' });
    expect(hired).toContain("status: 'completed'");
    expect(standIn.paid).toBe(10_000_000);
  },
};

const PACKAGES = [...Object.keys(RUNS), 'cli', 'mcp-server'];

describe('the README of', () => {
  it.each(PACKAGES)('%s begins with its installation', async (name) => {
    const readme = await readReadme(name);
    expect(readme.split('\n').slice(2, 4).join('\n')).toMatch(/^```sh\nnpm install /);
    expect(readme.split('\n')[3]).toContain(`/packages/${name === 'cli' ? 'agent-rental' : name}.tgz`);
  });

  it.each(Object.entries(RUNS))('%s has code that runs', async (name, run) => {
    await run(codeBlocks(await readReadme(name), 'ts'));
  });

  it('cli has commands that are understood', async () => {
    const path = await project();
    await walletFile(join(path, 'agent-wallet.json'));
    const [, commands = ''] = codeBlocks(await readReadme('cli'), 'sh');
    const lines = commands.split('\n').filter(Boolean);
    expect(lines).toHaveLength(4);
    const bin = join(path, 'node_modules/@agent-rental/cli/dist/bin.js');
    for (const line of lines) {
      const [, ...args] = line
        .replace(/ +#.*/, '')
        .replace('YOUR_ADDRESS', Keypair.generate().publicKey.toBase58())
        .split(' ');
      // Nothing listens on the discard port: a command that is understood ends with 1, one that is not with 2.
      const running = promisify(execFile)(process.execPath, [bin, ...args, '--rpc', 'http://127.0.0.1:9'], {
        cwd: path,
      });
      await expect(running, line).rejects.toMatchObject({ code: 1 });
    }
  });
});
