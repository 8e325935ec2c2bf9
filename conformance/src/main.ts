import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { LEAST_PASSED, runTck } from './a2a/tck.js';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { runAuthorizationScenarios } from './mcp/authorization.js';
import { inspectTools } from './mcp/inspector.js';
import { runSuite, runExtensionScenarios, SUITES, type Verdict } from './mcp/suites.js';

const { values, positionals } = readCommandLine({
  command: 'npm run conformance --',
  summary: `mcp: runs MCP's conformance suites of every era and its scenarios of tasks and skills against the adapter. Runs the
scenarios for authorization servers against a marketplace. Runs the Inspector with --strict on the tools of 200 schemas.
Installs Node 22 from npm.
a2a: runs the compatibility suite of A2A, the TCK, against a rented agent. Installs packages from PyPI.
Without a protocol it runs both. Ends with 1 on a failure.`,
  options: { tck: { kind: 'text', text: 'a checkout of a2aproject/a2a-tck; else git fetches it' } },
  positionals: 'mcp|a2a',
});
const unknown = positionals.find((protocol) => !['mcp', 'a2a'].includes(protocol));
if (unknown !== undefined) {
  process.stderr.write(`There is no suite of '${unknown}', only of mcp and a2a.\n`);
  process.exit(2);
}
const isAsked = (protocol: string) => positionals.length === 0 || positionals.includes(protocol);

/** Prints a result on one line, and its faults below it. */
function tell(isGood: boolean, what: string, wrong: readonly string[]): void {
  if (!isGood) process.exitCode = 1;
  process.stdout.write(`${isGood ? 'ok ' : 'BAD'} ${what}\n`);
  for (const line of wrong) process.stdout.write(`      ${line}\n`);
}

function judge(name: string, { passed, failures }: Verdict, checks = 0): void {
  const what = `${name}: ${passed} passed, ${failures.length} scenarios failed`;
  tell(failures.length === 0 && passed >= checks, what, failures);
}

async function judgeMcp(): Promise<void> {
  for (const name of Object.keys(SUITES) as (keyof typeof SUITES)[])
    judge(name, await runSuite(name), SUITES[name].checks);
  judge('the extensions for tasks and skills', await runExtensionScenarios());
  const stateDir = await newStateDir();
  const marketplace = await startMarketplace(stateDir);
  try {
    judge('the authorization server', await runAuthorizationScenarios(marketplace));
  } finally {
    await marketplace.stop();
    await removeStateDir(stateDir);
  }
  for (const [where, { code, tools, report }] of Object.entries(await inspectTools())) {
    const what = `Inspector --strict, ${where}: ${tools} tools, exit ${code}`;
    tell(code === 0, what, code === 0 ? [] : report.split('\n'));
  }
}

async function judgeA2a(): Promise<void> {
  const report = await runTck(values.tck);
  if ('missing' in report) {
    process.stdout.write(`--  The TCK of A2A was not run: ${report.missing}.\n`);
    return;
  }
  for (const [category, { passed, skipped, notClaimed, failed }] of report) {
    const counts = `${passed} passed, ${failed.length} failed, ${notClaimed.length} not claimed, ${skipped} skipped`;
    const isGood = failed.length === 0 && passed >= (LEAST_PASSED[category] ?? 0);
    tell(isGood, `TCK of A2A, ${category}: ${counts}`, [...failed, ...notClaimed]);
  }
}

if (isAsked('mcp')) await judgeMcp();
if (isAsked('a2a')) await judgeA2a();
