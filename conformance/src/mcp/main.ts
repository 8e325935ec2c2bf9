/**
 * `npm run conformance`: the protocol's conformance suites, all eras, against the adapter, and its Inspector against the
 * tools. Ends with 1 on a failure.
 */
import { inspectTools } from './inspector.js';
import { runSuite, SUITES } from './suites.js';

for (const name of Object.keys(SUITES) as (keyof typeof SUITES)[]) {
  const { passed, failures } = await runSuite(name);
  const isGood = failures.length === 0 && passed >= SUITES[name].checks;
  if (!isGood) process.exitCode = 1;
  process.stdout.write(
    `${isGood ? 'ok ' : 'BAD'} ${name}: ${passed} passed, ${failures.length} scenarios failed\n`,
  );
  for (const failure of failures) process.stdout.write(`      ${failure}\n`);
}

for (const [where, { code, tools, report }] of Object.entries(await inspectTools())) {
  if (code !== 0) process.exitCode = 1;
  process.stdout.write(
    `${code === 0 ? 'ok ' : 'BAD'} Inspector --strict, ${where}: ${tools} tools, exit ${code}\n`,
  );
  if (code !== 0) process.stdout.write(`${report.replaceAll(/^/gm, '      ')}\n`);
}
