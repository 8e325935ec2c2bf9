import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CliEnvironment } from '../cli-environment.js';
import type { Connected } from '../marketplace.js';
import { projectToSend } from './check-project.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-rental-check-'));
});
afterEach(() => rm(folder, { recursive: true }));

const AGENT = {
  name: 'far-agent',
  category: 'finance',
  description: 'Reads invoices and lists the amounts due.',
  model: { provider: 'self_hosted', endpoint_url: 'http://localhost:8080/v1' },
  system_prompt: 'You read invoices.',
  tools: [{ name: 'run_python', scope: 'input_only' }],
  input_schema: { type: 'object' },
  output_schema: {},
};

/** The fault that is told when the agent is sent to a marketplace at this address. */
async function faultAt(url: string, unserved: { name: string; reason: string }[]): Promise<string> {
  await writeFile(join(folder, 'agent.json'), JSON.stringify(AGENT));
  const client = {
    getNetwork: async () => ({ min_query_price_lamports: 200_000, unserved_tools: unserved }),
  } as unknown as Connected['client'];
  const environment = { folder, err: () => undefined } as unknown as CliEnvironment;
  return projectToSend({ client, url }, environment).then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  );
}

it('tells the faults that this marketplace alone refuses beside the others, before anything is sent [REG-61]', async () => {
  const told = await faultAt('https://market.example', [{ name: 'run_python', reason: 'it has no sandbox' }]);
  expect(told.split('; ')).toEqual([
    'agent.json is not right: tools.0.name run_python is not served here: it has no sandbox',
    'model.endpoint_url is on this machine, and https://market.example cannot call it',
  ]);
  expect(await faultAt('http://127.0.0.1:3000', [])).toBe('none');
});
