import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { report, reportText, type Suite } from './report.js';

const SUITES = [
  'adapters',
  'charges',
  'charts',
  'growth',
  'http',
  'overload',
  'pay-per-call',
  'replicas',
  'runs',
  'search',
  'startup',
  'webhooks',
];

async function main(): Promise<number> {
  const { values, positionals } = readCommandLine({
    command: 'npm run bench --',
    summary: `Measures a suite (${SUITES.join(', ')}) and compares it with its targets. Ends with 1 when a target does not hold.`,
    options: { json: { kind: 'flag', text: 'the report as one JSON object on stdout' } },
    positionals: 'suite',
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1 || !SUITES.includes(name)) {
    process.stderr.write(
      `Name one suite of ${SUITES.join(', ')}, not ${positionals.join(' ') || 'none'}. npm run bench -- --help lists the options.\n`,
    );
    return 2;
  }
  const { suite } = (await import(`./${name}.js`)) as { suite: Suite };
  const result = report(suite, await suite.run((line) => process.stderr.write(`${line}\n`)));
  process.stdout.write(`${values.json ? JSON.stringify(result, null, 2) : reportText(result)}\n`);
  return result.targets.every((target) => target.holds) ? 0 : 1;
}

process.exitCode = await main();
