import { readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { report, reportText, type Suite } from './report.js';

/** Files of this folder that are no suite; what a suite needs beside its file is in a folder of its name. */
const NO_SUITE = new Set(['main.js', 'report.js']);

async function suiteNames(): Promise<string[]> {
  const files = await readdir(import.meta.dirname);
  return files
    .filter((file) => file.endsWith('.js') && !file.includes('.test.') && !NO_SUITE.has(file))
    .map((file) => file.slice(0, -'.js'.length));
}

/** `npm run bench -- <suite> [--json]`: exit code 1 when a target does not hold, 2 when there is no such suite. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const names = await suiteNames();
  const [name] = positionals;
  if (name === undefined || positionals.length > 1 || !names.includes(name)) {
    process.stderr.write(`npm run bench -- <suite> [--json]; suites: ${names.join(', ')}\n`);
    return 2;
  }
  const { suite } = (await import(`./${name}.js`)) as { suite: Suite };
  const result = report(suite, await suite.run((line) => process.stderr.write(`${line}\n`)));
  process.stdout.write(`${values.json ? JSON.stringify(result, null, 2) : reportText(result)}\n`);
  return result.targets.every((target) => target.holds) ? 0 : 1;
}

process.exitCode = await main();
