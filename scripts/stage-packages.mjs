// Stages the packages that the marketplace serves at /packages/NAME.tgz. The server packs them with its address in place of ADDRESS.
//   node scripts/stage-packages.mjs   writes server/dist/packages
import { build } from 'esbuild';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeForPython } from './stage-python.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const STAGE = join(root, 'server/dist/packages');
/** The server puts its address in this place of a manifest. */
const ADDRESS = '{{MARKETPLACE}}';

/** Programs in one file with all their dependencies: `npx` needs no registry for them. Name in the address -> folder. */
const PROGRAMS = { 'agent-rental': 'cli', 'mcp-server': 'mcp-server' };
/** Libraries, as they would be published. Their third-party dependencies come from the registry. */
const LIBRARIES = [
  'contract',
  'ed25519',
  'program-client',
  'sdk',
  'tools',
  'langchain',
  'ai-sdk',
  'agent-runner',
  'sandbox',
  'local-chain',
];

/** Files of a package that the published one does not hold, as `files` of its manifest says. */
const NOT_PUBLISHED = /\.map$|\.test\.|\.test-support\.|\/testing(\/|$)|\.tsbuildinfo$/;

rmSync(STAGE, { recursive: true, force: true });
for (const [name, folder] of Object.entries(PROGRAMS))
  await stageProgram(name, join(root, 'packages', folder));
for (const name of LIBRARIES) stageLibrary(name, join(root, 'packages', name));
stagePython(join(root, 'packages/python'));

async function stageProgram(name, folder) {
  const target = join(STAGE, name);
  const manifest = readManifest(folder);
  copy(folder, target, manifest.files, (path) => !path.startsWith(join(folder, 'dist')));
  await build({
    absWorkingDir: root,
    entryPoints: [join(folder, 'dist/bin.js')],
    outdir: join(target, 'dist'),
    bundle: true,
    splitting: true,
    minifySyntax: true,
    minifyWhitespace: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    legalComments: 'eof',
    // Libraries in CommonJS call it.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const { name: packageName, version, description, license, bin, type, engines } = manifest;
  write(target, { name: packageName, version, description, license, bin, type, engines });
}

function stageLibrary(name, folder) {
  const target = join(STAGE, name);
  const { devDependencies: _, scripts: __, files, ...manifest } = readManifest(folder);
  copy(folder, target, files, () => true);
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).map(([of, version]) => {
      const [, own] = /^@agent-rental\/(.*)$/.exec(of) ?? [];
      return [of, own === undefined ? version : `${ADDRESS}/packages/${own}.tgz`];
    }),
  );
  write(target, { ...manifest, dependencies });
}

/** The Python package, which is built where it is installed. */
function stagePython(folder) {
  const target = join(STAGE, 'python');
  const isSource = (path) => !path.includes('__pycache__');
  copy(folder, target, ['pyproject.toml', 'hatch_build.py', 'src'], isSource);
  describeForPython(target, readManifest(join(root, 'packages/sdk')).version);
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function copy(folder, target, files, isWanted) {
  mkdirSync(target, { recursive: true });
  const named = files.filter((file) => !file.startsWith('!'));
  for (const file of [...named, 'README.md', 'LICENSE']) {
    const source = join(folder, file);
    const filter = (path) => isWanted(path) && !NOT_PUBLISHED.test(path.slice(folder.length));
    if (existsSync(source) && filter(source)) cpSync(source, join(target, file), { recursive: true, filter });
  }
}

function write(folder, manifest) {
  const text = JSON.stringify({ ...manifest, marketplace: ADDRESS }, null, 2);
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
}
