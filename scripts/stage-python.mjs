/**
 * `node packages/python/generate.mjs [--python <interpreter>] [--into <folder>]`: makes the Python package's models and methods from
 * the OpenAPI document. openapi-python-client of that interpreter does it. Copies a part of the program's IDL. The result
 * is not in git, so that it never differs from the contract.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openApiDocument } from '../contract/dist/index.js';
import { MARKETPLACE_IDL, MARKETPLACE_PROGRAM_ID } from '../program-client/dist/index.js';

/** The operations of the package: the API's for renters and creators, and the keys of receipts. */
const isOurs = (path, { tags }) =>
  (path.startsWith('/v1/') && !tags?.includes('Operator')) || path === '/.well-known/jwks.json';
/** Schemas that the written part reads beside the schemas of the kept operations. */
const ALSO_USED = ['ErrorEnvelope', 'OutputEvent', 'DoneEvent'];

const folder = fileURLToPath(new URL('.', import.meta.url));
const { values } = parseArgs({
  options: {
    python: { type: 'string', default: 'python3' },
    into: { type: 'string', default: join(folder, 'src/agent_rental/generated') },
  },
});
const { version } = JSON.parse(readFileSync(join(folder, '../sdk/package.json'), 'utf8'));

/** The document of a renter's and a creator's operations, with their successful answers: the client raises the others. */
function ownDocument() {
  const { paths, components, ...rest } = openApiDocument(version);
  const kept = {};
  for (const [path, item] of Object.entries(paths)) {
    const operations = Object.entries(item).filter(([, operation]) => isOurs(path, operation));
    for (const [, operation] of operations) {
      // The generator knows no range of media types.
      delete operation.requestBody?.content['*/*'];
      operation.responses = Object.fromEntries(
        Object.entries(operation.responses).filter(([status]) => status.startsWith('2')),
      );
    }
    if (operations.length > 0) kept[path] = Object.fromEntries(operations);
  }
  const { schemas } = components;
  const used = new Set(ALSO_USED);
  const visit = (value) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit([kept, ALSO_USED.map((name) => schemas[name])]);
  const ownSchemas = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  return { ...rest, paths: kept, components: { ...components, schemas: ownSchemas } };
}

/** The program's instructions, types and account sizes, without their words. */
function ownIdl() {
  const { instructions, types, constants } = MARKETPLACE_IDL;
  const isUsed = (name) => ['RentalModel', 'QueryCharge'].includes(name);
  return {
    program_id: MARKETPLACE_PROGRAM_ID.toBase58(),
    instructions: instructions.map(({ name, discriminator, accounts, args }) => ({
      name,
      discriminator,
      accounts: accounts.map((account) => ({
        name: account.name,
        signer: account.signer === true,
        writable: account.writable === true,
        optional: account.optional === true,
      })),
      args: args.map(({ name: argument, type }) => ({ name: argument, type })),
    })),
    types: Object.fromEntries(types.filter(({ name }) => isUsed(name)).map(({ name, type }) => [name, type])),
    constants: Object.fromEntries(constants.map(({ name, value }) => [name, value])),
  };
}

const work = mkdtempSync(join(tmpdir(), 'agent-rental-python-'));
try {
  const document = join(work, 'openapi.json');
  writeFileSync(document, JSON.stringify(ownDocument()));
  execFileSync(
    values.python,
    [
      '-m',
      'openapi_python_client',
      'generate',
      '--meta=none',
      '--overwrite',
      '--fail-on-warning',
      `--path=${document}`,
      `--output-path=${values.into}`,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, PATH: dirname(values.python) + delimiter + process.env['PATH'] },
    },
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}
writeFileSync(
  join(values.into, 'version.py'),
  `"""The version of the package."""\n\nVERSION = "${version}"\n`,
);
writeFileSync(join(values.into, 'idl.json'), JSON.stringify(ownIdl()));

/** The client for threads is the one for coroutines in other words. */
const IN_OTHER_WORDS = [
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/"""The client\. [^"]*"""/, '"""The client for threads, made from async_client.py. Do not edit."""'],
  [/AsyncGenerator\[(.*), None\]/g, 'Generator[$1, None, None]'],
  [/\bAsync(Client|Transport|BaseTransport|HTTPTransport|Generator|Iterator)\b/g, '$1'],
  [/\basyncio_detailed\b/g, 'sync_detailed'],
  [/\b(set_)async_(httpx_client)\b/g, '$1$2'],
  [/\b(shielded)\b/g, 'un$1'],
  [/\basync(contextmanager)\b/g, '$1'],
  [/\ba(iter_sse|close|next)\b/g, '$1'],
  [/__a(enter|exit)__/g, '__$1__'],
];
const ownFolder = join(values.into, '..');
let client = readFileSync(join(folder, 'src/agent_rental/async_client.py'), 'utf8');
for (const [pattern, words] of IN_OTHER_WORDS) client = client.replace(pattern, words);
writeFileSync(join(ownFolder, 'client.py'), client);
