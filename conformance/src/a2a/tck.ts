import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serveAgent } from '@agent-rental/sdk/creator';
import { publish } from '@agent-rental/sdk/solana';
import { jobEnd, rentAgent, textAgent } from '@agent-rental/test/support/agents/agents';
import {
  newStateDir,
  removeStateDir,
  startMarketplace,
  withoutExamples,
} from '@agent-rental/test/support/marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { pythonEnvironment } from '@agent-rental/test/support/toolchains/python-environment';
import { freePort } from '@agent-rental/test/support/workshop';
import { tckAgent } from './tck-agent.js';

const REPOSITORY = 'https://github.com/a2aproject/a2a-tck.git';
/** Of its branch 1.0-dev, which has the version of the protocol that the cards name. */
const COMMIT = '357c4a87afa2818731590647cccbea31c31733a2';
const PYTEST = ['-m', 'pytest', 'tests/compatibility', '-q', '-p', 'tck_plugin', '-p', 'no:cacheprovider'];
const TIMEOUT_MS = 600_000;
/** Enough for each message of the TCK. */
const RUNS = 1_000;

const run = promisify(execFile);
const file = (name: string) => fileURLToPath(new URL(`../../src/a2a/${name}`, import.meta.url));

/** Tests of features that the cards do not claim, or with a fault of the TCK, and why each fails. */
const NOT_CLAIMED: Readonly<Record<string, string>> = {
  'test_task_has_file_artifact[jsonrpc]': 'an output is text or JSON, and no file',
  'test_task_has_file_url_artifact[jsonrpc]': 'an output is text or JSON, and no file',
  'test_returns_message_with_text_part[jsonrpc]': 'a listing answers with a task',
  'test_must_requirement[CORE-SEND-003-jsonrpc]': 'it takes the error that it asks for as a failure',
  test_last_modified_present: 'a card may have no Last-Modified',
};

/** Tests of each category that pass: fewer are a failure, where the TCK leaves a test out. */
export const LEAST_PASSED: Readonly<Record<string, number>> = {
  agent_card: 9,
  core_operations: 56,
  jsonrpc: 14,
};

/** Counts of a category of the TCK, and its failed tests. */
interface Category {
  passed: number;
  skipped: number;
  /** Failed tests of features that the cards do not claim, with the reason. */
  notClaimed: string[];
  failed: string[];
}

/** The categories of the TCK by name, or why it was not run. */
export type TckReport = Map<string, Category> | { missing: string };

/**
 * Runs the compatibility suite of A2A against a rented agent of a marketplace.
 *
 * @param checkout its folder; default: fetched by git once, to the system's temporary folder
 * @throws Error when it ends without a report
 */
export async function runTck(checkout?: string): Promise<TckReport> {
  const environment = await pythonEnvironment(file('tck-requirements.txt'));
  if ('missing' in environment) return environment;
  const folder = checkout ?? (await fetched().catch(() => undefined));
  if (folder === undefined) return { missing: `git cannot fetch ${REPOSITORY}. Give a checkout by --tck` };
  const [webhookPort, stateDir] = [await freePort(), await newStateDir()];
  let webhookSecret: string | undefined;
  const agent = await serveAgent({ run: tckAgent, port: 0, webhookSecret: () => webhookSecret });
  const webhook = `http://127.0.0.1:${webhookPort}`;
  const marketplace = await startMarketplace(stateDir, withoutExamples(agent.url, webhook));
  try {
    const [creator, renter] = [await newParticipant(marketplace), await newParticipant(marketplace)];
    const { system_prompt: _, ...manifest } = textAgent(agent.url, {
      name: 'tck-agent',
      entrypoint_url: agent.url,
      output_schema: {},
    });
    const { job_id, webhook_secret } = await creator.client.registerAgent(manifest);
    webhookSecret = webhook_secret;
    const { result } = await jobEnd(creator.client, job_id);
    const id = result?.listing_id ?? '';
    await publish(creator.client, creator.signer, id);
    await rentAgent(renter, id, RUNS);
    const report = join(stateDir, 'tck-report.xml');
    const told = await run(
      environment.python,
      [
        ...PYTEST,
        `--sut-host=${marketplace.dev.base_url}/a2a/${id}`,
        '--webhook-host=127.0.0.1',
        `--junitxml=${report}`,
      ],
      {
        cwd: folder,
        env: {
          PYTHONDONTWRITEBYTECODE: '1',
          PYTHONPATH: dirname(file('tck_plugin.py')),
          TCK_BEARER: renter.token,
          TCK_WEBHOOK_PORT: String(webhookPort),
        },
        timeout: TIMEOUT_MS,
        maxBuffer: 64 * 1024 * 1024,
      },
      // It ends with 1 where a test failed.
    ).catch((error: unknown) => error as { stdout?: string; stderr?: string });
    if (!existsSync(report)) throw new Error(`The TCK made no report.\n${told.stdout}${told.stderr}`);
    return readReport(await readFile(report, 'utf8'));
  } finally {
    await marketplace.stop();
    await agent.close();
    await removeStateDir(stateDir);
  }
}

/** Reads pytest's report, which has an element for each test. */
function readReport(xml: string): Map<string, Category> {
  const categories = new Map<string, Category>();
  const tests = xml.matchAll(
    /<testcase classname="tests\.compatibility\.(\w+)[^"]*" name="([^"]+)"([^]*?)(?=<testcase|<\/testsuite)/g,
  );
  for (const [, category = '', name = '', content = ''] of tests) {
    const counts = categories.get(category) ?? { passed: 0, skipped: 0, notClaimed: [], failed: [] };
    categories.set(category, counts);
    const reason = NOT_CLAIMED[name];
    const [, fault] = /<(?:failure|error) message="([^"]*)"/.exec(content) ?? [];
    if (content.includes('<skipped')) counts.skipped += 1;
    else if (fault === undefined) counts.passed += 1;
    else if (reason === undefined) counts.failed.push(`${name}: ${fault.slice(0, 400)}`);
    else counts.notClaimed.push(`${name}: ${reason}`);
  }
  return categories;
}

/** The folder of the TCK at its commit. */
async function fetched(): Promise<string> {
  const folder = join(tmpdir(), `agent-rental-a2a-tck-${COMMIT.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(`${folder}-`);
  try {
    const git = (...args: string[]) => run('git', ['-C', draft, ...args], { timeout: TIMEOUT_MS });
    await git('init', '--quiet');
    await git('fetch', '--quiet', '--depth', '1', REPOSITORY, COMMIT);
    await git('checkout', '--quiet', 'FETCH_HEAD');
    // Complete, so that parallel runs never see a part of it.
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
