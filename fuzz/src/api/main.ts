/**
 * `npm run fuzz:api`: sends requests made from the OpenAPI document to a marketplace of its own, for as long as asked.
 *
 *   npm run fuzz:api -- [--examples 300] [--seed 1]
 */
import { parseArgs } from 'node:util';
import { pythonEnvironment } from '@agent-rental/test/support/toolchains/python-environment';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { fuzzApi, REQUIREMENTS } from './fuzz-api.js';

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
});
const environment = await pythonEnvironment(REQUIREMENTS);
if ('missing' in environment) throw new Error(`No Python with the packages: ${environment.missing}`);

const stateDir = await newStateDir();
// What is looked for are answers outside the contract; that limits hold has tests of its own.
const unlimited = { RATE_LIMIT_PER_MINUTE: '10000000', EXECUTIONS_PER_MINUTE: '10000000' };
const marketplace = await startMarketplace(stateDir, unlimited);
try {
  const { code } = await fuzzApi(marketplace, {
    python: environment.python,
    seed: Number(values.seed),
    maxExamples: Number(values.examples),
    onOutput: (chunk) => process.stdout.write(chunk),
  });
  process.exitCode = code ?? 1;
} finally {
  await marketplace.stop();
  await removeStateDir(stateDir);
}
