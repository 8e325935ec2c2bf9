import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { npmBinary } from '@agent-rental/test/support/toolchains/npm-binary';
import { npmTool } from '@agent-rental/stand-in/npm-tool';

/** The program of the adapter with the suite's fixtures. */
const SERVER = fileURLToPath(
  new URL('../../../packages/mcp-server/dist/testing/conformance-server.js', import.meta.url),
);
const SUITE_TIMEOUT_MS = 240_000;

/** The result of a suite. */
export interface Verdict {
  /** The number of passed checks, including checks that do not count. */
  readonly passed: number;
  /** The report's lines of failed scenarios that count. */
  readonly failures: readonly string[];
}

/** The protocol's own conformance suites. */
export const SUITES = {
  '0.1.13, on the Node of the tests': { version: '0.1.13', checks: 40, arguments: [] },
  '0.2.0-alpha.12, what 2025-11-25 requires': {
    version: '0.2.0-alpha.12',
    node: 'Node 22',
    checks: 84,
    arguments: ['--requirements', '2025-11-25'],
  },
  '0.2.0-alpha.12, what 2026-07-28 requires': {
    version: '0.2.0-alpha.12',
    node: 'Node 22',
    checks: 118,
    arguments: ['--requirements', '2026-07-28'],
  },
} as const satisfies Record<
  string,
  { version: string; node?: 'Node 22'; checks: number; arguments: readonly string[] }
>;

/** The scenarios of MCP's extensions, which no revision requires, and their numbers of checks. */
const EXTENSION_SCENARIOS = {
  'tasks-lifecycle': 9,
  'tasks-capability-negotiation': 5,
  'tasks-wire-fields': 4,
  'tasks-request-state-removal': 3,
  'tasks-mrtr-input': 4,
  'tasks-request-headers': 5,
  'tasks-dispatch-and-envelope': 9,
  'tasks-required-task-error': 3,
  'tasks-mrtr-composition': 2,
  'sep-2640-skills-enumeration': 32,
  'sep-2640-skills-manifest': 4,
};

/** The suite's version for the scenarios of extensions. */
const EXTENSIONS_VERSION = '0.2.0-alpha.12';

/** Runs a suite against the adapter. */
export async function runSuite(name: keyof typeof SUITES): Promise<Verdict> {
  const suite = SUITES[name];
  const [node, main] = await Promise.all([
    'node' in suite ? npmBinary(suite.node) : process.execPath,
    npmTool('@modelcontextprotocol/conformance', suite.version, 'dist/index.js'),
  ]);
  return withAdapter(async (url) =>
    judge(await output(node, [main, 'server', '--url', url, ...suite.arguments])),
  );
}

/** Runs the scenarios of extensions against the adapter. */
export async function runExtensionScenarios(): Promise<Verdict> {
  const [node, main] = await Promise.all([
    npmBinary('Node 22'),
    npmTool('@modelcontextprotocol/conformance', EXTENSIONS_VERSION, 'dist/index.js'),
  ]);
  return withAdapter(async (url) => {
    const verdict = { passed: 0, failures: [] as string[] };
    for (const [scenario, checks] of Object.entries(EXTENSION_SCENARIOS)) {
      const report = await output(node, [main, 'server', '--url', url, '--scenario', scenario]);
      const [said, passed] = /^Passed: (\d+)\/\d+, \d+ failed/m.exec(report) ?? [];
      verdict.passed += Number(passed ?? 0);
      if (said !== `Passed: ${checks}/${checks}, 0 failed`) verdict.failures.push(`${scenario}: ${said}`);
    }
    return verdict;
  });
}

/** Serves the adapter during the work. */
async function withAdapter(work: (url: string) => Promise<Verdict>): Promise<Verdict> {
  const server = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [url] = (await once(createInterface(server.stdout), 'line')) as [string];
    return await work(url);
  } finally {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  }
}

/** Reads the suite's summary: a line per scenario, and the scenarios that do not count. */
function judge(report: string): Verdict {
  const unscored = new Set([...report.matchAll(/^ +[✓✗] (\S+) \(/gm)].map(([, scenario]) => scenario));
  const scenarios = [...report.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed$/gm)];
  return {
    passed: scenarios.reduce((sum, [, , passed]) => sum + Number(passed), 0),
    failures: scenarios
      .filter(([, scenario, , failed]) => failed !== '0' && !unscored.has(scenario))
      .map(([line]) => line),
  };
}

/** Runs a suite's command. @returns its output, also after an exit with 1. @throws Error after a timeout */
function output(command: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { timeout: SUITE_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error?.killed === true) reject(new Error(`The suite did not end.\n${stdout}`));
        else resolve(stdout + stderr);
      },
    );
  });
}
