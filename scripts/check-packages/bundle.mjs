// The MCP bundle of the examples, made from the tarballs by the bundles' own tool, and the registry's entry beside it.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../build.mjs';

const SERVER = '@agent-rental/mcp-server';
const EXAMPLES = join(root, 'examples', 'mcp');
const TOOL_VERSION = '2.1.2';

/** What goes wrong when the bundle is validated, packed, unpacked and started. */
export async function bundleProblems(work, tarballs) {
  const { npmTool } = await import('../../packages/stand-in/dist/npm-tool.js');
  const tool = await npmTool('@anthropic-ai/mcpb', TOOL_VERSION, 'dist/cli/cli.js');
  const mcpb = (...args) => run(process.execPath, [tool, ...args]);
  const folder = join(work, 'bundle');
  mkdirSync(folder);
  copyFileSync(join(EXAMPLES, 'mcpb', 'manifest.json'), join(folder, 'manifest.json'));
  const overrides = Object.fromEntries(tarballs.map(({ manifest, path }) => [manifest.name, `file:${path}`]));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [SERVER]: overrides[SERVER] }, overrides }),
  );
  try {
    run('npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
    });
    mcpb('validate', join(folder, 'manifest.json'));
    const packed = join(work, 'agent-rental.mcpb');
    mcpb('pack', folder, packed);
    const unpacked = join(work, 'unpacked');
    mcpb('unpack', packed, unpacked);
    return startProblems(unpacked);
  } catch (error) {
    return [`${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`.trim()];
  }
}

/** What keeps the unpacked bundle from starting as its manifest says. */
function startProblems(folder) {
  const { server, version } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const args = server.mcp_config.args.map((argument) => argument.replace('${__dirname}', folder));
  const said = run(process.execPath, [...args, '--version']).trim();
  return said === version ? [] : [`The bundle of version ${version} holds a server of version ${said}.`];
}

/**
 * The registry's objections to `server.json`: an npm package is its owner's only when it names the entry.
 * https://github.com/modelcontextprotocol/registry, docs/reference/server-json
 */
export function registryProblems(tarballs) {
  const entry = JSON.parse(readFileSync(join(EXAMPLES, 'server.json'), 'utf8'));
  const problems = [];
  const require = (holds, problem) => {
    if (!holds) problems.push(problem);
  };
  require(/^[a-zA-Z0-9.-]{1,}\/[a-zA-Z0-9._-]+$/.test(entry.name) &&
    entry.name.length <= 200, 'The name is none.');
  require(entry.description?.length >= 1 &&
    entry.description.length <= 100, 'The description is not 1 to 100 long.');
  require(!entry.title || entry.title.length <= 100, 'The title is longer than 100.');
  for (const { registryType, identifier, version, transport } of entry.packages) {
    const manifest = tarballs.find((tarball) => tarball.manifest.name === identifier)?.manifest;
    require(registryType === 'npm' &&
      transport?.type === 'stdio', `${identifier} is no npm package over stdio.`);
    require(manifest?.version === version, `${identifier} has not the version ${version}.`);
    require(manifest?.mcpName === entry.name, `mcpName of ${identifier} is not ${entry.name}.`);
  }
  return problems;
}

function run(command, args, options = {}) {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
}
