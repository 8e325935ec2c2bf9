// An empty project that has installed all tarballs, as a user does.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Other packages of a user of all packages: the frameworks of the adapters, and an older compiler than ours. */
const BESIDES = {
  '@langchain/core': '1.2.13',
  ai: '6.0.322',
  typescript: '5.9.3',
  '@types/node': '20.19.25',
};

const COMPILER_OPTIONS = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
};

/** Makes the project; `npm install` of tarballs alone, no workspace around it, no install script. */
export function createProject(folder, tarballs) {
  const dependencies = Object.fromEntries(
    tarballs.map(({ manifest, path }) => [manifest.name, `file:${path}`]),
  );
  const manifest = {
    name: 'empty-project',
    private: true,
    type: 'module',
    dependencies: { ...dependencies, ...BESIDES },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  execFileSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const entries = tarballs.flatMap(({ manifest: { name, exports } }) =>
    Object.keys(exports).map((path) => name + path.slice(1)),
  );
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}';`);
  const all = `[${entries.map((_, index) => `entry${index}`).join(', ')}]`;
  writeFileSync(join(folder, 'imports.ts'), [...imports, `console.log(${all}.length);\n`].join('\n'));
  writeFileSync(
    join(folder, 'imports.mjs'),
    [
      ...imports,
      `for (const entry of ${all}) if (Object.keys(entry).length === 0) process.exitCode = 1;\n`,
    ].join('\n'),
  );
  writeFileSync(join(folder, 'smoke.mjs'), readFileSync(new URL('smoke.mjs', import.meta.url)));
  for (const {
    manifest: { name },
  } of tarballs) {
    readmeExamples(join(folder, 'node_modules', name, 'README.md')).forEach((code, index) =>
      writeFileSync(join(folder, `readme-${name.split('/')[1]}-${index}.ts`), `${code}\nexport {};\n`),
    );
  }
  for (const [kind, options] of Object.entries({
    nodenext: { module: 'nodenext', moduleResolution: 'nodenext', types: ['node'] },
    bundler: { module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
  })) {
    const config = { compilerOptions: { ...COMPILER_OPTIONS, ...options }, include: ['*.ts'] };
    writeFileSync(join(folder, `tsconfig.${kind}.json`), JSON.stringify(config));
  }
}

/** The TypeScript examples of a README. */
function readmeExamples(path) {
  return [...readFileSync(path, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
}

/** Runs programs of a Node version in the project, and keeps the output of each failed one as a problem. */
function runner(folder, node, problems) {
  return (what, args) => {
    const options = { cwd: folder, encoding: 'utf8', timeout: 300_000 };
    const { status, stdout, stderr, error } = spawnSync(node, args, options);
    if (status !== 0) problems.push(`${what}: ${error?.message ?? ''}${stdout}${stderr}`.trim());
    return stdout;
  };
}

/** The problems of a Node version that imports and uses the packages. */
export function nodeProblems(folder, node) {
  const problems = [];
  const run = runner(folder, node, problems);
  run('imports', ['imports.mjs']);
  run('a chain and a sandbox', ['smoke.mjs']);
  const bin = join(folder, 'node_modules/@agent-rental/mcp-server/dist/bin.js');
  if (!/^\d+\.\d+\.\d+\n$/.test(run('agent-rental-mcp', [bin, '--version'])))
    problems.push('agent-rental-mcp: no version');
  return problems;
}

/** The problems of both versions of TypeScript with the types of the packages. */
export function typeProblems(folder, isSample) {
  const problems = [];
  const run = runner(folder, process.execPath, problems);
  const older = 'node_modules/typescript/bin/tsc';
  const ours = fileURLToPath(new URL(`../../${older}`, import.meta.url));
  for (const kind of ['nodenext', 'bundler']) {
    const args = ['-p', `tsconfig.${kind}.json`];
    if (!isSample || kind === 'nodenext') run(`TypeScript 5.9, ${kind}`, [older, ...args]);
    if (!isSample || kind === 'bundler') run(`TypeScript 7, ${kind}`, [ours, ...args]);
  }
  return problems;
}

/** What of Node is left when an entry is bundled for a browser, without polyfills; and how large the bundle is. */
export async function browserProblems(folder, entry) {
  const { errors, outputFiles } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: folder },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    minify: true,
    write: false,
    logLevel: 'silent',
  }).catch(({ errors }) => ({ errors, outputFiles: [] }));
  return {
    problems: errors.map(({ text, location }) => `${text} (${location?.file ?? ''})`),
    bytes: outputFiles[0]?.contents.length ?? 0,
  };
}
