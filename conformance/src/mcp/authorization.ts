import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Marketplace } from '@agent-rental/test/support/marketplace';
import { registerClient } from '@agent-rental/test/support/oauth/app';
import { consentOverHttp } from '@agent-rental/test/support/oauth/consent';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';
import { npmBinary } from '@agent-rental/test/support/toolchains/npm-binary';
import { freePort } from '@agent-rental/test/support/workshop';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import type { Verdict } from './suites.js';

const VERSION = '0.2.0-alpha.12';
const TIMEOUT_MS = 240_000;
/** The suite's scenarios for authorization servers, and their numbers of checks. Its other `auth` scenarios are for clients. */
const SCENARIOS = { 'authorization-server-metadata-endpoint': 2, 'authorization-code-grant': 1 };

/** Runs the suite's scenarios for authorization servers against a marketplace, with a wallet that consents. */
export async function runAuthorizationScenarios(marketplace: Marketplace): Promise<Verdict> {
  const { base_url: issuer, mcp_url: resource } = marketplace.dev;
  const [node, main, port, person] = await Promise.all([
    npmBinary('Node 22'),
    npmTool('@modelcontextprotocol/conformance', VERSION, 'dist/index.js'),
    freePort(),
    newParticipant(marketplace),
  ]);
  const client = await registerClient(marketplace, {
    client_name: 'Conformance suite',
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
  });
  const args = ['authorization', '--url', issuer, '--resource', resource, '--port', String(port)];
  const child = spawn(node, [main, ...args, '--client-id', String(client.body['client_id'])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  let report = '';
  child.stderr.on('data', (chunk: Buffer) => (report += chunk.toString()));
  createInterface(child.stdout).on('line', (line) => {
    report += `${line}\n`;
    if (!line.startsWith(`${issuer}/dashboard/consent?`)) return;
    consentAndGoOn(line, person).catch((error: unknown) => {
      report += `The consent failed: ${String(error)}\n`;
    });
  });
  await once(child, 'close');
  return judge(report);
}

/** Consents and follows the redirect, like a person with a browser. */
async function consentAndGoOn(url: string, person: Participant): Promise<void> {
  await fetch(await consentOverHttp(url, person));
}

/** Reads the suite's summary, which has a line per scenario. */
function judge(report: string): Verdict {
  const verdict = { passed: 0, failures: [] as string[] };
  for (const [scenario, checks] of Object.entries(SCENARIOS)) {
    const line = new RegExp(`^✓ ${scenario}: (\\d+) passed, 0 failed`, 'm').exec(report);
    verdict.passed += Number(line?.[1] ?? 0);
    if (Number(line?.[1] ?? 0) < checks) verdict.failures.push(`${scenario}: ${line?.[0] ?? 'did not pass'}`);
  }
  return verdict;
}
