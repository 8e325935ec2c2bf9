import { readCommandLine } from '@agent-rental/test/support/command-line/options';
import { pythonEnvironment } from '@agent-rental/test/support/toolchains/python-environment';
import { newStateDir, removeStateDir, startMarketplace } from '@agent-rental/test/support/marketplace';
import { fuzzApi, REQUIREMENTS } from './fuzz-api.js';

const { values } = readCommandLine({
  command: 'npm run fuzz -- api',
  summary: `Sends requests made from the OpenAPI document to a new marketplace. Ends with 1 on a 5xx or an answer that the
document does not describe. Needs Python 3.11 or later.`,
  options: {
    examples: { kind: 'number', text: 'requests of each operation', default: 300 },
    minutes: { kind: 'number', text: 'of the run; absent: until all requests are sent' },
    seed: { kind: 'number', text: 'of the requests', default: 1, least: 0 },
  },
});
const environment = await pythonEnvironment(REQUIREMENTS);
if ('missing' in environment) throw new Error(`No Python with the packages: ${environment.missing}`);

const stateDir = await newStateDir();
const marketplace = await startMarketplace(stateDir);
try {
  const { code } = await fuzzApi(marketplace, {
    python: environment.python,
    seed: values.seed,
    maxExamples: values.examples,
    seconds: values.minutes && values.minutes * 60,
    onOutput: (chunk) => process.stdout.write(chunk),
  });
  process.exitCode = code ?? 1;
} finally {
  await marketplace.stop();
  await removeStateDir(stateDir);
}
