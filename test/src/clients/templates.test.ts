import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { IS_QUICK, sampleOf } from '../support/form.js';
import { takePort } from '../support/loopback-ports.js';
import { attach, type Marketplace } from '../support/marketplace.js';
import { followDocument, openWorkshop } from '../support/workshop.js';

/** Limit of the time from an empty folder to a paid run, with all installations. */
const THREE_MINUTES_MS = 180_000;
const run = promisify(execFile);

describe.skipIf(IS_QUICK)('a creator with Node alone, in an empty folder', () => {
  let marketplace: Marketplace;
  let agentPort: number;
  let modelPort: number;
  beforeAll(async () => {
    [agentPort, modelPort] = [await takePort(), await takePort()];
    marketplace = await attach(inject('stateDir'));
  });

  it.each(
    sampleOf(
      [
        ['typescript', '"words":2'],
        ['prompt', 'Practice model'],
        ['langchain', 'Practice model'],
        ['ai-sdk', 'Practice model'],
        ['python', '"words":2'],
      ] as const,
      1,
    ),
  )(
    'installs the command line and the template %s, publishes it, and has a paid run in three minutes [REG-61, SVC-20]',
    async (template, answer) => {
      const startedAt = performance.now();
      const { base_url: base, rpc_url: rpc } = marketplace.dev;
      const { folder } = await openWorkshop(marketplace.dev);
      const installed = join(folder, 'global');
      const env = {
        ...process.env,
        PATH: `${join(installed, 'bin')}:${process.env['PATH']}`,
        HOME: folder,
        // A separate cache keeps the packages of this marketplace out of the person's.
        npm_config_cache: join(folder, 'cache'),
        AGENT_RENTAL_RPC_URL: rpc,
      };
      await run('npm', ['install', '--global', '--prefix', installed, `${base}/packages/agent-rental.tgz`], {
        cwd: folder,
        env,
      });
      const agent = join(folder, 'tried-agent');
      const cli = async (cwd: string, ...args: string[]) =>
        (await run('agent-rental', args, { cwd, env })).stdout;
      await cli(folder, 'init', 'tried-agent', '--template', template);
      // The templates' ports may be in use on the machine that runs the tests.
      const file = join(agent, 'agent.json');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace(':8788', `:${agentPort}`).replace(':8789', `:${modelPort}`));
      expect(await cli(agent, 'check')).toContain('well-formed');

      const ports = { agentPort, modelPort };
      const said = await followDocument(
        agent,
        join(agent, 'AGENTS.md'),
        { dev: marketplace.dev, ...ports },
        env,
      );
      expect(said).toContain(answer);
      expect(said).toContain('You get 0.000975 SOL of 0.001 SOL per task');
      expect(said).toMatch(/completed in .* charged 0\.001 SOL, run [\w-]+/);
      // The earnings show the charge once it is indexed.
      await expect
        .poll(() => cli(agent, 'earnings'), { timeout: 15_000 })
        .toContain('0.000975 SOL earned, 0.000975 SOL to withdraw');
      expect(performance.now() - startedAt).toBeLessThan(THREE_MINUTES_MS);
      if (template === 'prompt') return;

      const secretOf = async () => (await readFile(join(agent, '.webhook-secret'), 'utf8')).trim();
      const before = await secretOf();
      expect(await cli(agent, 'rotate-secret')).toContain('with the one before, too');
      expect(await secretOf()).toMatch(/^whsec_/);
      expect(await secretOf()).not.toBe(before);
      const [registration] = Object.values(
        JSON.parse(await readFile(join(agent, 'listings.json'), 'utf8')) as object,
      ) as { listing_id: string }[];
      const id = registration?.listing_id ?? '';
      const input = ['--input', '{"text":"Two words"}', '--wallet', 'renter.json'];
      await cli(agent, 'rent', id, '--deposit', '0.001', '--yes', '--wallet', 'renter.json');
      expect(await cli(agent, 'run', id, 'Do it.', ...input)).toContain(answer);
    },
    2 * THREE_MINUTES_MS,
  );
});
