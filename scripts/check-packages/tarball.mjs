// A tarball holds all files that it needs, and no others.
import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Resolutions that an ESM-only package does not serve: CommonJS before `require(esm)`, and TypeScript's oldest. */
const NOT_SERVED = new Set(['node10', 'node16-cjs']);

/** Static imports, which begin or end a separate line, and `import("...")`, in types and of modules of the package itself. */
const STATIC_IMPORT = /^(?:import |(?:import|export|\})[^'"\n]* from )['"]([^'"\n]+)['"]/gm;
const IMPORTS = {
  '.js': [STATIC_IMPORT, /\bimport\('(\.[^'\n]+)'\)/g],
  '.d.ts': [STATIC_IMPORT, /\bimport\("([^"\n]+)"\)/g],
};

/** Everything wrong with a packed package, as lines to read. */
export async function tarballProblems(packed, source) {
  const bytes = readFileSync(packed.path);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const lint = await publint({ pack: { tarball: buffer }, level: 'suggestion', strict: true });
  const types = await checkPackage(createPackageFromTarballData(new Uint8Array(buffer)));
  return [
    ...contentProblems(packed, source),
    ...lint.messages.map((message) => `publint: ${formatMessage(message, lint.pkg, { color: false })}`),
    ...(types.types === false ? ['attw: it has no types'] : types.problems)
      .filter((problem) => !NOT_SERVED.has(problem.resolutionKind))
      .map((problem) => `attw: ${typeof problem === 'string' ? problem : JSON.stringify(problem)}`),
  ];
}

function contentProblems({ files, manifest }, { folder, started = [] }) {
  const problems = [];
  const has = new Set(files);
  for (const needed of ['README.md', 'LICENSE']) {
    if (!has.has(needed)) problems.push(`${needed} is missing`);
  }
  if (manifest.license !== 'Apache-2.0') problems.push("its licence is not the repository's");
  if (manifest.sideEffects === undefined) problems.push('it does not say whether it has side effects');

  const { stems, imported } = reachable(folder, manifest, started);
  const known = new Set([
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
    manifest.name,
  ]);
  for (const [name, from] of imported) {
    const isNode = name.startsWith('node:') || builtinModules.includes(name);
    if (!isNode && !known.has(name)) problems.push(`${from} imports ${name}, which is no dependency`);
  }
  for (const file of files) {
    if (!file.startsWith('dist/')) continue;
    const stem = file.replace(/(\.d\.ts|\.js|\.js\.map)$/, '');
    if (stem === file || !stems.has(stem)) problems.push(`${file} is used by no entry`);
    if (!existsSync(join(folder, `${stem.replace('dist/', 'src/')}.ts`))) {
      problems.push(`${file} has no source: it is left over from an earlier build`);
    }
  }
  return problems;
}

/** The modules (without extension) that the entries lead to, and the packages that these import. */
function reachable(folder, manifest, started) {
  const entries = Object.values(manifest.exports).map((entry) => entry.default);
  const queue = [...entries.map((path) => posix.normalize(path).replace(/\.js$/, '')), ...started];
  const stems = new Set(queue);
  const imported = new Map();
  for (const stem of queue) {
    for (const [extension, patterns] of Object.entries(IMPORTS)) {
      const text = readFileSync(join(folder, stem + extension), 'utf8');
      for (const [, specifier] of patterns.flatMap((pattern) => [...text.matchAll(pattern)])) {
        if (specifier.startsWith('.')) {
          const next = posix.join(posix.dirname(stem), specifier).replace(/\.js$/, '');
          if (!stems.has(next)) queue.push(next);
          stems.add(next);
        } else {
          const name = /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier)[0];
          imported.set(specifier.startsWith('node:') ? specifier : name, stem);
        }
      }
    }
  }
  return { stems, imported };
}
