// `npm run docs:python`: writes the reference of the Python package to dist/api-python, from its docstrings.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { build, root } from '../build.mjs';

if (process.argv.length > 2) {
  process.stdout.write(
    'npm run docs:python\n\nWrites the reference of the Python package to dist/api-python. No options. It needs Python 3.11.\n',
  );
  process.exit(['--help', '-h'].includes(process.argv[2]) ? 0 : 2);
}
await build();
const { pythonEnvironment } = await import('../../test/dist/support/toolchains/python-environment.js');
const { buildPythonPackage, PYTHON_PACKAGE } =
  await import('../../test/dist/support/toolchains/python-package.js');
const environment = await pythonEnvironment(join(PYTHON_PACKAGE, 'requirements.txt'));
if ('missing' in environment) {
  process.stderr.write(`There is no Python with the package's requirements. ${environment.missing}\n`);
  process.exit(1);
}
const { python } = environment;
const { folder, site } = await buildPythonPackage(python);
try {
  // Generated models are many, and an adapter's framework is not installed.
  const leftOut = ['generated', 'tools.(anthropic|crewai|google_adk|langchain|openai_agents|pydantic_ai)'];
  const modules = ['agent_rental', ...leftOut.map((name) => `!agent_rental.${name}`)];
  execFileSync(
    python,
    ['-W', 'error', '-m', 'pdoc', '--output-directory', join(root, 'dist/api-python'), ...modules],
    {
      stdio: 'inherit',
      env: { PYTHONPATH: site, PATH: dirname(python) + delimiter + process.env['PATH'] },
    },
  );
} finally {
  rmSync(folder, { recursive: true });
}
