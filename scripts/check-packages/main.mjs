/**
 * `npm run check -- packages`: packs the published packages, checks each tarball, and installs them all in an empty project.
 * There it tests Node 20 and 22, two versions of TypeScript and a bundler for browsers. It also makes the MCP server's
 * bundle.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, root } from '../build.mjs';
import { bundleProblems, registryProblems } from './bundle.mjs';
import { browserProblems, createProject, nodeProblems, typeProblems } from './consumer.mjs';
import { packages } from './packages.mjs';
import { tarballProblems } from './tarball.mjs';

/** `--sample`: each version of TypeScript and each kind of resolution once, and not each pair of them. */
const isSample = process.argv.includes('--sample');

await build();
const { npmBinary } = await import('../../test/dist/support/toolchains/npm-binary.js');
const work = mkdtempSync(join(tmpdir(), 'agent-rental-packages-'));
let bad = 0;
function report(what, problems, detail = '') {
  bad += problems.length;
  process.stdout.write(`${problems.length === 0 ? 'ok ' : 'BAD'} ${what}${detail && `  ${detail}`}\n`);
  for (const problem of problems) process.stdout.write(`      ${problem.replaceAll('\n', '\n      ')}\n`);
}

try {
  const sources = packages.map((source) => ({ ...source, folder: join(root, 'packages', source.folder) }));
  const tarballs = pack(sources.map(({ folder }) => folder));
  for (const [index, packed] of tarballs.entries()) {
    const source = sources[index];
    const detail = `${packed.files.length} files, ${Math.ceil(packed.size / 1024)} KiB`;
    report(`tarball of ${packed.manifest.name}`, await tarballProblems(packed, source), detail);
  }
  const project = join(work, 'project');
  mkdirSync(project);
  createProject(project, tarballs);
  for (const node of [process.execPath, await npmBinary('Node 22')]) {
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    report(`all of them installed, on Node ${version}`, nodeProblems(project, node));
  }
  report('their types', typeProblems(project, isSample));
  for (const [index, { browser = [] }] of packages.entries()) {
    for (const path of browser) {
      const entry = tarballs[index].manifest.name + path.slice(1);
      const { problems, bytes } = await browserProblems(project, entry);
      report(`${entry} in a browser`, problems, `${Math.ceil(bytes / 1024)} KiB, minified`);
    }
  }
  report('the MCP bundle, validated, packed, unpacked and started', await bundleProblems(work, tarballs));
  report("the MCP registry's entry", registryProblems(tarballs));
} finally {
  rmSync(work, { recursive: true, force: true });
}
process.stdout.write(bad === 0 ? 'The packages are fit to publish.\n' : `${bad} problems.\n`);
process.exitCode = bad === 0 ? 0 : 1;

/** Packs the folders with one start of npm. */
function pack(folders) {
  const options = ['--json', '--pack-destination', work, '--loglevel=error'];
  const all = execFileSync('npm', ['pack', ...folders, ...options], { cwd: work, encoding: 'utf8' });
  return JSON.parse(all).map(({ filename, size, files }) => {
    const path = join(work, filename);
    const manifest = JSON.parse(
      execFileSync('tar', ['-xzOf', path, 'package/package.json'], { encoding: 'utf8' }),
    );
    return { path, manifest, size, files: files.map((file) => file.path) };
  });
}
