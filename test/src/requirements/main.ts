import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCommandLine } from '../support/command-line/options.js';
import { idsIn, readRequirements, REQUIREMENTS_FOLDER } from './requirement.js';

const { values } = readCommandLine({
  command: 'npm run requirements --',
  summary: 'Prints the requirements, line by line, with the places of the tests that show them.',
  options: { missing: { kind: 'flag', text: 'only the lines that no test names' } },
});

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const OWN_TESTS = join('test', 'src', 'requirements');

/** Id to `file:line` of each test that names it, read from the text of the tests. */
async function placesById(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const folder of [
    'packages',
    'server/src',
    'examples/src',
    'test/src',
    'benchmarks/src',
    'fuzz/src',
    'conformance/src',
    'resilience/src',
  ]) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !path.endsWith('.ts') || /node_modules|\bdist\b/.test(path)) continue;
      const name = relative(ROOT, path);
      if (name.startsWith(OWN_TESTS)) continue;
      for (const [index, line] of (await readFile(path, 'utf8')).split('\n').entries()) {
        for (const id of idsIn(line)) {
          const places = found.get(id) ?? [];
          places.push(`${name.split(sep).join('/')}:${index + 1}`);
          found.set(id, places);
        }
      }
    }
  }
  return found;
}

const requirements = await readRequirements(REQUIREMENTS_FOLDER);
const places = await placesById();
const missingOnly = values.missing;
const rows = requirements.filter(({ id, later }) => !missingOnly || (!later && !places.has(id)));
const text = rows.map((requirement) => {
  const { id, source, later } = requirement;
  const named =
    places
      .get(id)
      ?.map((place) => `\n    ${place}`)
      .join('') ?? '';
  const state = later ? ` (later: ${later})` : '';
  return `${id} [${source}]${state} ${requirement.text}${named}`;
});
process.stdout.write(`${text.join('\n')}\n${rows.length} lines\n`);
