import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { runAuthorizationScenarios } from './authorization.js';
import { inspectTools } from './inspector.js';
import { runSuite, runExtensionScenarios, SUITES, type Verdict } from './suites.js';

readCommandLine({
  command: 'npm run conformance --',
  summary: `Runs MCP's conformance suites of every era and its scenarios of tasks and skills against the adapter. Runs the scenarios for
authorization servers against a marketplace. Runs the Inspector with --strict on the tools of 200 schemas. Ends with 1 on a
failure. Installs Node 22 from npm.`,
  options: {},
});

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

for (const name of Object.keys(SUITES) as (keyof typeof SUITES)[])
  judge(name, await runSuite(name), SUITES[name].checks);
judge('the extensions for tasks and skills', await runExtensionScenarios());
judge('the authorization server', await runAuthorizationScenarios());
for (const [where, { code, tools, report }] of Object.entries(await inspectTools())) {
  const what = `Inspector --strict, ${where}: ${tools} tools, exit ${code}`;
  tell(code === 0, what, code === 0 ? [] : report.split('\n'));
}
