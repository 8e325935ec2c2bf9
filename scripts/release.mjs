// `npm run release -- <version>`: gives the changes below "Unreleased" in CHANGELOG.md a version, and all packages with them.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './build.mjs';

const UNRELEASED = '## Unreleased\n';
/** Files that name the version beside the manifests. */
const ALSO = [
  'Dockerfile',
  'deploy/compose/compose.localnet.yaml',
  'deploy/compose/compose.yaml',
  'deploy/helm/agent-rental/Chart.yaml',
  'docs/containers.md',
  'examples/mcp/mcpb/manifest.json',
  'examples/mcp/server.json',
];

/** The changelog with the unreleased changes below the heading of a version. */
export function releaseChanges(changelog, version, date) {
  const [before, after] = changelog.split(UNRELEASED);
  const [changes] = (after ?? '').split(/^## /m);
  if (!/^- /m.test(changes)) throw new Error('CHANGELOG.md has no change below "## Unreleased".');
  return `${before}${UNRELEASED}\n## ${version} (${date})\n${after}`;
}

/** A manifest of that version, which asks for the packages of this repository in the same one. */
export function releaseManifest(manifest, version) {
  const changed = { ...manifest, version };
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
    if (manifest[kind] === undefined) continue;
    changed[kind] = Object.fromEntries(
      Object.entries(manifest[kind]).map(([name, range]) => [
        name,
        name.startsWith('@agent-rental/') ? range.replace(manifest.version, version) : range,
      ]),
    );
  }
  return changed;
}

function change(file, edit) {
  writeFileSync(join(root, file), edit(readFileSync(join(root, file), 'utf8')));
}

function main(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) throw new Error('npm run release -- <version>, such as 1.2.3');
  const { version: former, workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (former.localeCompare(version, 'en', { numeric: true }) >= 0)
    throw new Error(`${version} does not come after ${former}.`);
  change('CHANGELOG.md', (text) => releaseChanges(text, version, new Date().toISOString().slice(0, 10)));
  for (const folder of ['.', ...workspaces])
    change(
      join(folder, 'package.json'),
      (text) => `${JSON.stringify(releaseManifest(JSON.parse(text), version), null, 2)}\n`,
    );
  for (const file of ALSO) change(file, (text) => text.replaceAll(former, version));
  const { status } = spawnSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv[2]);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}
