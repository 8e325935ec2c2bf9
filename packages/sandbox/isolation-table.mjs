/**
 * Makes the table of docs/isolation.md from the conformance suite (after `npm run build`).
 *
 * `node packages/sandbox/isolation-table.mjs` writes the table. With `--check` it exits 1 when the page has another table.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { isolationTable, withIsolationTable } from './dist/conformance/isolation-table.js';

const document = new URL('../../docs/isolation.md', import.meta.url);
const page = await readFile(document, 'utf8');
const made = withIsolationTable(page, isolationTable());
if (made !== page) {
  if (process.argv.includes('--check')) {
    process.stderr.write(
      'the table in docs/isolation.md is stale; run: node packages/sandbox/isolation-table.mjs\n',
    );
    process.exitCode = 1;
  } else {
    await writeFile(document, made);
  }
}
