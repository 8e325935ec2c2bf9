import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { runAuthorizationScenarios } from './authorization.js';
import { inspectTools } from './inspector.js';
import { runSuite, runTaskScenarios, SUITES } from './suites.js';

readCommandLine({
  command: 'npm run conformance --',
  summary: `Runs MCP's conformance suites of every era and its scenarios of tasks against the adapter, those for authorization servers
against a marketplace, and its Inspector with --strict on the tools of 200 schemas. Ends with 1 on a failure. Installs Node 22 from npm.`,
  options: {},
});

for (const name of Object.keys(SUITES) as (keyof typeof SUITES)[]) {
  const { passed, failures } = await runSuite(name);
  const isGood = failures.length === 0 && passed >= SUITES[name].checks;
  if (!isGood) process.exitCode = 1;
  process.stdout.write(
    `${isGood ? 'ok ' : 'BAD'} ${name}: ${passed} passed, ${failures.length} scenarios failed\n`,
  );
  for (const failure of failures) process.stdout.write(`      ${failure}\n`);
}

const tasks = await runTaskScenarios();
if (tasks.failures.length > 0) process.exitCode = 1;
process.stdout.write(
  `${tasks.failures.length === 0 ? 'ok ' : 'BAD'} the Tasks extension: ${tasks.passed} passed, ` +
    `${tasks.failures.length} scenarios failed\n`,
);
for (const failure of tasks.failures) process.stdout.write(`      ${failure}\n`);

const authorization = await runAuthorizationScenarios();
if (authorization.failures.length > 0) process.exitCode = 1;
process.stdout.write(
  `${authorization.failures.length === 0 ? 'ok ' : 'BAD'} the authorization server: ${authorization.passed} passed, ` +
    `${authorization.failures.length} scenarios failed\n`,
);
for (const failure of authorization.failures) process.stdout.write(`      ${failure}\n`);

for (const [where, { code, tools, report }] of Object.entries(await inspectTools())) {
  if (code !== 0) process.exitCode = 1;
  process.stdout.write(
    `${code === 0 ? 'ok ' : 'BAD'} Inspector --strict, ${where}: ${tools} tools, exit ${code}\n`,
  );
  if (code !== 0) process.stdout.write(`${report.replaceAll(/^/gm, '      ')}\n`);
}
