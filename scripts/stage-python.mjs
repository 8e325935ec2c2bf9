/**
 * Describes the API and the program for the Python package. `hatch_build.py` makes the rest at `pip install`, so that the build of
 * this repository needs no Python.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JSON_BOUNDS, openApiDocument } from '../packages/contract/dist/index.js';
import { MARKETPLACE_IDL, MARKETPLACE_PROGRAM_ID } from '../packages/program-client/dist/index.js';

/** The operations of the package: the API's for renters and creators, and the keys of receipts. */
const isOurs = (path, { tags }) =>
  (path.startsWith('/v1/') && !tags?.includes('Operator')) || path === '/.well-known/jwks.json';
/** Schemas that the written part reads beside the schemas of the kept operations. */
const ALSO_USED = ['ErrorEnvelope', 'OutputEvent', 'DoneEvent'];

/** The document of a renter's and a creator's operations, with their successful answers: the client raises the others. */
function ownDocument(version) {
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

/**
 * Writes the description of the API and of the program into the staged package.
 *
 * @param target the staged package's folder
 */
export function describeForPython(target, version) {
  const contract = join(target, 'src/agent_rental/contract');
  mkdirSync(contract, { recursive: true });
  writeFileSync(join(target, 'openapi.json'), JSON.stringify(ownDocument(version)));
  writeFileSync(join(contract, 'idl.json'), JSON.stringify(ownIdl()));
  writeFileSync(join(contract, 'bounds.json'), JSON.stringify(JSON_BOUNDS));
  writeFileSync(
    join(contract, '__init__.py'),
    `"""Facts of the API and of the program."""\n\nVERSION = "${version}"\n`,
  );
}
