import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { takePort } from '../support/loopback-ports.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { openWorkshop } from '../support/workshop.js';

const KEY = 'the-right-key';
const TIMEOUT_MS = 240_000;

/** A model that answers callers with the right key, at one address. */
async function startModel(): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== '/v1/chat/completions') return response.writeHead(404).end();
    if (request.headers.authorization !== `Bearer ${KEY}`) return response.writeHead(401).end();
    const choice = { index: 0, delta: { role: 'assistant', content: 'Plain.' }, finish_reason: 'stop' };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'm', choices: [choice] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }).listen(await takePort(), '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

describe('ten usual mistakes of a creator', () => {
  let model: Awaited<ReturnType<typeof startModel>>;
  let marketplace: Marketplace;
  let agentPort: number;
  beforeAll(async () => {
    model = await startModel();
    agentPort = await takePort();
    marketplace = await attach(inject('stateDir'));
  });
  afterAll(() => void model?.server.close());

  /** A folder with an agent of a template, and its commands. */
  async function newAgent(name: string, template: string) {
    const { folder, cli, cliWith } = await openWorkshop(marketplace.dev);
    await cli(folder, 'init', name, '--template', template);
    const agent = join(folder, name);
    const file = join(agent, 'agent.json');
    const change = async (fields: object) =>
      writeFile(file, JSON.stringify({ ...(JSON.parse(await readFile(file, 'utf8')) as object), ...fields }));
    const run = async (code: number, variables: Record<string, string>, ...args: string[]) => {
      const ended = await cliWith(variables, agent, ...args);
      expect(ended.code, args.join(' ') + ended.stderr).toBe(code);
      return ended;
    };
    return {
      agent,
      file,
      change,
      /** The last line of a refused command. */
      refused: async (variables: Record<string, string>, ...args: string[]) =>
        (await run(1, variables, ...args)).stderr.trimEnd().split('\n').at(-1) ?? '',
      ok: async (...args: string[]) => (await run(0, {}, ...args)).stdout,
    };
  }

  it(
    'a missing field, a missing prompt file, an http address, a wrong schema and a low price are told at once, each once [REG-61, MAN-16]',
    async () => {
      const { change, refused, ok } = await newAgent('wrong-files', 'prompt');
      await change({
        category: undefined,
        system_prompt_file: 'lost.md',
        input_schema: { type: 'object', properties: { text: { type: 'strng' } } },
        listing: { rental_model: 'per_query', price_lamports: 1_000 },
      });
      await ok('wallet', 'create');
      const wrongModel = { provider: 'self_hosted', endpoint_url: 'http://models.example.com/v1' };
      // A forgotten key is told with the other faults, too.
      for (const [command, model, count] of [
        ['check', wrongModel, 5],
        ['publish', wrongModel, 5],
        ['publish', { provider: 'openai', model: 'a-model' }, 5],
      ] as const) {
        await change({ model });
        const told = await refused({}, command);
        for (const fault of [
          /category Invalid option: expected one of "finance"/,
          /system_prompt_file names lost\.md, which cannot be read/,
          model === wrongModel
            ? /model\.endpoint_url cannot be called: it begins with http:\/\/, and only https:\/\/ is called/
            : /openai answers no call without a key, and there is none\. Set OPENAI_API_KEY/,
          /input_schema is not a usable JSON Schema: at \/properties\/text\/type: must be equal to one of/,
          /listing\.price_lamports of a per_query listing is at least 200000 lamports \(0\.0002 SOL\)/,
        ]) {
          expect(told.match(new RegExp(fault, 'g')), `${command}: ${fault.source}: ${told}`).toHaveLength(1);
        }
        expect(told.split('; ')).toHaveLength(count);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'no key, a wrong key and a wrong endpoint are told before anything is registered; a forgotten key is sent later [REG-61, REG-120]',
    async () => {
      const { agent, change, refused, ok } = await newAgent('wrong-keys', 'prompt');
      const selfHosted = (path: string) =>
        change({
          model: { provider: 'self_hosted', endpoint_url: `http://127.0.0.1:${model.port}${path}` },
        });
      await ok('wallet', 'create');
      await change({ model: { provider: 'openai', model: 'a-model' } });
      expect(await refused({}, 'publish')).toMatch(
        /openai answers no call without a key, and there is none\. Set OPENAI_API_KEY, or name a file: --model-key FILE/,
      );
      await selfHosted('/v1');
      expect(await refused({ MODEL_API_KEY: 'another' }, 'publish')).toMatch(
        /The key of the model in MODEL_API_KEY is wrong: 127\.0\.0\.1:\d+ refuses it with 401/,
      );
      await selfHosted('/v2');
      expect(await refused({ MODEL_API_KEY: KEY }, 'publish')).toMatch(
        /model\.endpoint_url is wrong: http:\/\/127\.0\.0\.1:\d+\/v2\/chat\/completions answers 404/,
      );
      expect(existsSync(join(agent, 'listings.json'))).toBe(false);

      await selfHosted('/v1');
      const forgotten = await refused({}, 'publish');
      expect(forgotten).toMatch(
        /does not accept the key: it answered 401\. Send another key with "agent-rental update --model-key"/,
      );
      expect(forgotten).not.toMatch(/PUT|POST|\/v1\/listings/);
      await writeFile(join(agent, 'key.txt'), `${KEY}\n`);
      expect(await ok('update', '--model-key', 'key.txt')).toContain('model key');
      // The key is right now. The wallet has no SOL.
      expect(await refused({}, 'publish')).toMatch(/too little SOL.*"agent-rental wallet fund FILE"/);
      await ok('wallet', 'fund', '--sol', '1', '--airdrop');
      expect(await ok('publish', '--model-key', 'key.txt')).toContain('Published wrong-keys-');
    },
    TIMEOUT_MS,
  );

  it(
    'an agent that does not run is told, and after a price rise the advice works as it is written [REG-61, REG-64]',
    async () => {
      const { agent, change, file, refused, ok } = await newAgent('not-running', 'typescript');
      await change({ entrypoint_url: `http://127.0.0.1:${agentPort}/` });
      await ok('wallet', 'create', '--fund', '1', '--airdrop');
      expect(await refused({}, 'publish')).toMatch(
        /The endpoint could not be reached: .*Start the agent, .*"agent-rental publish --unverified" publishes it/,
      );
      const server = createServer((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"words":2,"characters":9,"longest":"words"}');
      }).listen(agentPort, '127.0.0.1');
      await once(server, 'listening');
      try {
        await ok('publish');
        const listings = JSON.parse(await readFile(join(agent, 'listings.json'), 'utf8')) as object;
        const [{ listing_id: id = '' } = {}] = Object.values(listings) as { listing_id?: string }[];
        await ok('wallet', 'create', 'renter.json', '--fund', '1', '--airdrop');
        const asRenter = ['--wallet', 'renter.json'];
        const task = ['Count.', '--input', '{"text":"Two words"}', ...asRenter];
        await ok('rent', id, '--deposit', '0.01', '--yes', ...asRenter);
        await writeFile(file, (await readFile(file, 'utf8')).replace('1000000', '2000000'));
        expect(await ok('update')).toContain('price');
        const told = await refused({}, 'run', id, ...task);
        expect(told).toContain('A run costs 0.002 SOL now, more than the agreed price of 0.001 SOL');
        const [, advice = ''] = /"(agent-rental rent \S+ --deposit) SOL"/.exec(told) ?? [];
        await ok(...advice.split(' ').slice(1), '0', '--yes', ...asRenter);
        expect(await ok('run', id, ...task)).toContain('"words":2');
        await expect.poll(() => ok('earnings'), { timeout: 60_000 }).toContain('0.00195 SOL to withdraw');
        expect(await ok('withdraw')).toContain(`Withdrew 0.00195 SOL from ${id}`);
        expect(await refused({}, 'update', '--notes', 'Nothing is new.')).toContain(
          'version_notes are of a new version',
        );
      } finally {
        server.close();
      }
    },
    TIMEOUT_MS,
  );
});
