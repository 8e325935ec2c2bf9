/**
 * `npm run check -- directions`: a folder imports only the folders that this table allows. Each line names only folders of
 * the lines above it, so there is no circle. Tests and `testing` folders are free.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './build.mjs';

/** Packages, and the packages that each may import. */
const PACKAGES = {
  contract: [],
  ed25519: [],
  'program-client': [],
  'local-chain': [],
  'agent-runner': [],
  sandbox: ['agent-runner'],
  sdk: ['contract', 'ed25519', 'program-client'],
  'stand-in': ['contract', 'ed25519', 'program-client'],
  tools: ['contract', 'sdk'],
  'mcp-server': ['sdk', 'tools'],
  langchain: ['sdk', 'tools'],
  'ai-sdk': ['sdk', 'tools'],
  cli: ['sdk'],
};

const SERVER_PACKAGES = ['contract', 'ed25519', 'program-client', 'sandbox', 'agent-runner'];
/** Every file of these may be imported. Of the other folders of the server only `index.js`. */
const FOUNDATION = ['errors', 'platform', 'access', 'database', 'rate-limits', 'jobs', 'http'];

/** Folders of `server/src`, and the folders that each may import. */
const SERVER = {
  errors: [],
  platform: ['errors'],
  config: ['platform'],
  access: ['errors'],
  database: ['errors', 'platform'],
  'rate-limits': ['errors', 'platform'],
  jobs: ['platform', 'database'],
  chain: ['errors', 'platform'],
  http: ['errors', 'platform', 'access', 'rate-limits', 'chain'],
  'service-keys': ['platform', 'database'],
  events: ['errors', 'platform', 'access', 'database', 'jobs', 'http'],
  storage: ['errors', 'platform', 'database'],
  moderation: ['errors', 'platform', 'access', 'database', 'rate-limits', 'http'],
  listings: ['errors', 'platform', 'access', 'database', 'http', 'moderation'],
  identity: ['errors', 'platform', 'access', 'database', 'rate-limits', 'http', 'service-keys', 'listings'],
  spending: ['errors', 'access', 'database', 'http', 'listings', 'identity'],
  credentials: ['errors', 'platform', 'access', 'database', 'chain', 'http', 'listings'],
  files: ['errors', 'platform', 'access', 'database', 'http', 'storage', 'credentials'],
  settlement: ['errors', 'platform', 'access', 'database', 'chain', 'http', 'service-keys', 'credentials'],
  registration: [
    'errors',
    'platform',
    'access',
    'database',
    'jobs',
    'chain',
    'http',
    'storage',
    'moderation',
    'listings',
    'identity',
  ],
  'model-gateway': ['platform', 'registration'],
  transactions: [
    'errors',
    'platform',
    'access',
    'chain',
    'http',
    'listings',
    'spending',
    'credentials',
    'registration',
  ],
  runs: [
    'errors',
    'platform',
    'access',
    'database',
    'rate-limits',
    'chain',
    'http',
    'events',
    'listings',
    'spending',
    'credentials',
    'files',
    'settlement',
    'registration',
    'model-gateway',
  ],
  'pay-per-call': [
    'errors',
    'platform',
    'access',
    'database',
    'rate-limits',
    'chain',
    'http',
    'service-keys',
    'listings',
    'credentials',
  ],
  'run-log': ['platform', 'database', 'chain', 'runs'],
  a2a: ['errors', 'platform', 'access', 'database', 'http', 'service-keys', 'events', 'listings'],
  skills: ['errors', 'http', 'listings'],
  dashboard: ['errors', 'platform', 'chain', 'http', 'events', 'listings', 'identity', 'transactions'],
  operations: ['errors', 'platform', 'database', 'storage', 'model-gateway', 'runs'],
};
/** These put the folders together, and may import all of them. */
const COMPOSING = ['compose', 'embedded', 'operator', 'reconciliation', 'main'];
/** Files that call the service as a client does, inside the process. */
const CLIENTS = [
  'server/src/http/routes/mcp.ts',
  'server/src/http/routes/tools.ts',
  'server/src/a2a/',
  'server/src/skills/',
];

/** Files that the script of the pages shares with the pages. */
const PAGE_SHARED = ['dashboard/words.js', 'dashboard/element-ids.js', 'dashboard/output-shape.js'];

const problems = [...tableProblems(PACKAGES), ...tableProblems(SERVER)];
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', 'packages', 'server'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => /^(packages\/[^/]+|server)\/src\/.*\.tsx?$/.test(file) && existsSync(join(root, file)))
  .filter((file) => !/\.test(-support)?\.tsx?$|\/testing\//.test(file));
for (const file of files) {
  for (const [, specifier] of readFileSync(join(root, file), 'utf8').matchAll(
    /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g,
  )) {
    const reason = whyNot(file, specifier);
    if (reason) problems.push(`${file} imports ${specifier}: ${reason}`);
  }
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Names that a line of a table uses before their own line. */
function tableProblems(table) {
  const names = Object.keys(table);
  return names.flatMap((name, index) =>
    table[name]
      .filter((used) => !names.slice(0, index).includes(used))
      .map((used) => `scripts/directions.mjs: ${name} names ${used}, which has no line above it`),
  );
}

/** The reason why a file may not import something; undefined where it may. */
function whyNot(file, specifier) {
  const [, name] = /^@agent-rental\/([^/]+)/.exec(specifier) ?? [];
  if (name !== undefined) return whyNotPackage(file, name, specifier);
  if (!file.startsWith('server/') || !specifier.startsWith('.')) return undefined;
  const target = relative('server/src', join(dirname(file), specifier));
  const [from, to] = [folderOf(relative('server/src', file)), folderOf(target)];
  if (isPageScript(file)) {
    const isOwn = target.startsWith('dashboard/browser/') || PAGE_SHARED.includes(target);
    return isOwn ? undefined : `the script of the pages takes ${PAGE_SHARED.join(' and ')} alone`;
  }
  if (from === to || COMPOSING.includes(from)) return undefined;
  if (SERVER[from] === undefined) return `the folder ${from} has no line in scripts/directions.mjs`;
  if (!SERVER[from].includes(to)) return `${from} may import ${SERVER[from].join(', ') || 'no other folder'}`;
  const isOpen = FOUNDATION.includes(to) || target === `${to}/index.js`;
  return isOpen ? undefined : `a slice is imported by its index`;
}

function whyNotPackage(file, name, specifier) {
  if (!file.startsWith('server/')) {
    const own = file.split('/')[1];
    return PACKAGES[own]?.includes(name)
      ? undefined
      : `${own} may import ${PACKAGES[own]?.join(', ') || 'no package'}`;
  }
  if (CLIENTS.some((client) => file.startsWith(client)) || SERVER_PACKAGES.includes(name)) return undefined;
  if (isPageScript(file) || file.startsWith('server/src/dashboard/'))
    return name === 'sdk' ? undefined : 'pages build on the contract and the sdk, as any client';
  if (file.startsWith('server/src/embedded/') && name === 'local-chain') return undefined;
  return `the server builds on ${SERVER_PACKAGES.join(', ')}, and not on ${specifier}`;
}

/** The folder of a file of `server/src`. Its own file is the start. */
function folderOf(path) {
  return path.includes('/') ? path.split('/')[0] : 'main';
}

function isPageScript(file) {
  return file.startsWith('server/src/dashboard/browser/');
}
