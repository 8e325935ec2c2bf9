import { readdir } from 'node:fs/promises';
import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { report, reportText, type Suite } from './report.js';

/** Files of this folder that are no suite; what a suite needs beside its file is in a folder of its name. */
const NO_SUITE = new Set(['main.js', 'report.js']);

async function suiteNames(): Promise<string[]> {
  const files = await readdir(import.meta.dirname);
  return files
    .filter((file) => file.endsWith('.js') && !file.includes('.test.') && !NO_SUITE.has(file))
    .map((file) => file.slice(0, -'.js'.length));
}

async function main(): Promise<number> {
  const names = await suiteNames();
  const { values, positionals } = readCommandLine({
    command: 'npm run bench --',
    summary: `Measures a suite (${names.join(', ')}) and compares it with its targets. Ends with 1 when a target does not hold.`,
    options: { json: { kind: 'flag', text: 'the report as one JSON object on stdout' } },
    positionals: 'suite',
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1 || !names.includes(name)) {
    const wrong =
      name === undefined ? 'No suite' : positionals.length > 1 ? 'More than one suite' : `No suite ${name}`;
    process.stderr.write(
      `${wrong}. Suites: ${names.join(', ')}. npm run bench -- --help lists the options.\n`,
    );
    return 2;
  }
  const { suite } = (await import(`./${name}.js`)) as { suite: Suite };
  const result = report(suite, await suite.run((line) => process.stderr.write(`${line}\n`)));
  process.stdout.write(`${values.json ? JSON.stringify(result, null, 2) : reportText(result)}\n`);
  return result.targets.every((target) => target.holds) ? 0 : 1;
}

process.exitCode = await main();
