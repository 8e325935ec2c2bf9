import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../clients/clients.js';
import type { Installed } from '../../clients/install.js';
import { judgeCalls, type Call, type Case, type ClientVerdict } from './judge-calls.js';
import type { EchoMarket } from './echo-market.js';

const MOST_MS = 20 * 60_000;
const GROUP_SIZE = 40;

/** Lets a client call the tool of each case, and compares the agents' inputs with the sent values. */
export async function callInClient(
  market: EchoMarket,
  client: Client,
  { file, args }: Installed,
  cases: readonly Case[],
): Promise<ClientVerdict> {
  const home = await mkdtemp(join(tmpdir(), 'agent-rental-schemas-'));
  const path = join(home, 'cases.json');
  // Different tasks for all clients, so that each input has one call.
  const calls = cases.map((each, index): Call => ({ ...each, task: `${client.name}: ${index}` }));
  try {
    await writeFile(path, JSON.stringify(groupsOf(market.mcpUrl, calls)));
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, TOKEN: market.token, GROUPS: path };
    const said = await linesOf(file, args, home, env);
    return { client: client.name, ...judgeCalls(calls, market.arrived, said) };
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Groups the calls by address. Some clients read only the first page of a tool list, so each address has one page. */
function groupsOf(mcpUrl: string, calls: readonly Call[]): { url: string; calls: object[] }[] {
  const ids = [...new Set(calls.map(({ agentId }) => agentId))];
  return Array.from({ length: Math.ceil(ids.length / GROUP_SIZE) }, (_, group) => {
    const named = ids.slice(group * GROUP_SIZE, (group + 1) * GROUP_SIZE);
    const asked = calls.map(({ agentId, task, value }, index) => {
      const args = { agent_id: agentId, task, input: value };
      return { index, tool: agentId.replaceAll('-', '_'), args };
    });
    const url = `${mcpUrl}?tools=${named.join(',')}`;
    return { url, calls: asked.filter(({ args }) => named.includes(args.agent_id)) };
  });
}

/** Runs a client's program. @returns its text for each call. It prints one line of JSON per call, among other lines. */
async function linesOf(file: string, args: readonly string[], cwd: string, env: Record<string, string>) {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: MOST_MS });
  let printed = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-2_000)));
  const [code] = (await once(child, 'close')) as [number | null];
  const said = new Map<number, string>();
  for (const line of printed.split('\n').filter((text) => text.startsWith('{"index"'))) {
    const { index, text } = JSON.parse(line) as { index: number; text: string };
    said.set(index, text);
  }
  if (said.size === 0) said.set(0, `The client ended with ${code}: ${errors}`);
  return said;
}
