import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import type { SandboxBound, SandboxDriver } from '@agent-rental/sandbox';
import type { Config } from '../config/index.js';
import { boundsInForce } from '../compose/sandboxes/open-driver.js';
import type { DevFile } from './dev-file.js';

const MCP_BIN = fileURLToPath(new URL('bin.js', import.meta.resolve('@agent-rental/mcp-server')));

const BOUNDED: Readonly<Record<SandboxBound, string>> = {
  machine: "bounded by each sandbox's own machine",
  cgroup: 'bounded by cgroups',
  rlimit: 'bounded by limits of each process',
  none: 'not bounded on this machine',
};

/** What runs, and commands to try next. */
export function describeRunning(
  dev: DevFile,
  stateDir: string,
  driver: SandboxDriver,
  config: Config,
): string {
  const lines = [
    `The marketplace is up at ${dev.base_url} (open it in a browser to see the agents)`,
    `  MCP            ${dev.mcp_url}`,
    `  Solana RPC     ${dev.rpc_url}`,
    `  Isolation      ${driver.isolation} (${driver.name}), memory ${BOUNDED[boundsInForce(driver).memoryBound]}`,
    ...(driver.notices ?? []).map((notice) => `                 ${notice}`),
    ...config.unused.map((sentence) => `  Not used       ${sentence}`),
    `  Review         ${config.review === 'automatic' ? 'automatic: every valid agent is approved' : 'by the operator'}`,
    `  Loopback       ${describeLoopback(config)}`,
    `  Ready file     ${join(stateDir, 'dev.json')}`,
    `  Log            ${join(stateDir, 'server.log')}`,
  ];
  return [...lines, ...whatToTry(dev), ''].join('\n');
}

/** Commands and configurations that work without changes; none without a rented example. */
export function whatToTry(
  dev: Pick<DevFile, 'base_url' | 'mcp_url' | 'api_key_file' | 'listings'>,
): string[] {
  const first = dev.listings[0];
  if (!dev.api_key_file || !first) return [];
  const key = readFileSync(dev.api_key_file, 'utf8').trim();
  const http = {
    mcpServers: {
      'agent-rental': { type: 'http', url: dev.mcp_url, headers: { Authorization: `Bearer ${key}` } },
    },
  };
  const stdio = {
    mcpServers: {
      'agent-rental': {
        command: 'node',
        args: [MCP_BIN],
        env: { AGENT_RENTAL_URL: dev.base_url, AGENT_RENTAL_API_KEY: key },
      },
    },
  };
  return [
    '',
    'Rented for the demo wallet:',
    ...dev.listings.map((listing) => `  ${listing.id}  (${listing.rental_model})  ${listing.title}`),
    '',
    'Run one with curl:',
    `  curl -sS ${dev.base_url}/v1/execute -H 'Authorization: Bearer ${key}' \\`,
    `    -H 'Content-Type: application/json' -d @'${first.sample_request_file}'`,
    '',
    'MCP client over HTTP:',
    indent(JSON.stringify(http, null, 2)),
    '',
    'MCP client over stdio:',
    indent(JSON.stringify(stdio, null, 2)),
    '',
    'Ctrl-C stops everything.',
  ];
}

/** Which agents and models on this machine are called. */
function describeLoopback({ allowedLoopback = [], examples }: Config): string {
  const origins = [...(examples ? ["the examples' own"] : []), ...allowedLoopback];
  return `agents and models at ${origins.join(', ') || 'no address'}; ALLOW_LOOPBACK adds others`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
