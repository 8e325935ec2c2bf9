import type { Sandbox as E2bMachine } from 'e2b';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { evaluatorPath, runnerPath, type SandboxEntry } from '@agent-rental/agent-runner';
import { awaitReady } from '../await-ready.js';
import { type E2bAccess, explainE2bError, isTooMany } from './e2b-errors.js';
import { probeE2b } from './e2b-probe.js';
import { E2bSandbox } from './e2b-sandbox.js';
import {
  defaultLimits,
  type Sandbox,
  type SandboxDriver,
  type SandboxLimits,
  SandboxStartError,
  type StartOptions,
} from '../../sandbox.js';
import { StartPace } from './start-pace.js';
import { within } from '../within.js';

const MINUTE_MS = 60_000;
/** Time limit of a call beside the calls of a start. */
const CALL_TIMEOUT_MS = 30_000;
/** The longest wait for a requested machine after its start has failed. */
const LATE_CREATE_MS = 60_000;
/** The longest wait for the end of machines at the close. */
const CLOSE_TIMEOUT_MS = 15_000;
/** After this time E2B ends a sandbox by itself. Every plan allows an hour. */
const LIFETIME_MS = 30 * MINUTE_MS;
/** The longest run, with the longest waits for its charge and for a repeated request. */
const LONGEST_USE_MS = 8 * MINUTE_MS;
const LOOK_MS = 4_000;
/** Marks our sandboxes, so that a restarted host finds its leftovers. */
const SERVICE = 'agent-rental';

/** Addresses of E2B; tests replace them by a stand-in. */
interface E2bAddress {
  domain?: string | undefined;
  apiUrl?: string | undefined;
  sandboxUrl?: string | undefined;
}

export interface E2bDriverOptions extends E2bAddress {
  apiKey: string;
  /** Name or id of the template; it has to have Node 20 or newer. Default: E2B's `base`. */
  template?: string | undefined;
  /** Folder for the name of this host; created when missing. Two hosts must not share it. */
  stateDir: string;
  /** Sandboxes that the account may have at once, less its other uses. */
  maxSandboxes: number;
  /** The most sandboxes that the account may create in a second. */
  createsPerSecond: number;
  /** Called with a machine that did not end. E2B ends it after its lifetime. */
  onLeft?: (sandboxId: string, error: unknown) => void;
  /** Wait between two looks at a machine in use, and the time limit of each, in milliseconds. Default 4,000. */
  lookMs?: number;
  /** Address that no sandbox may reach, tried by the probe. */
  probeAddress?: { host: string; port: number };
}

async function hostName(stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, 'e2b-host');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch {
    const name = randomUUID();
    await writeFile(path, name, { mode: 0o600 });
    return name;
  }
}

/** The command has an empty environment, because the machine's environment names its template and its account. */
function commandFor(entry: SandboxEntry, { memoryMb, cpuSeconds }: SandboxLimits): string {
  return (
    `ulimit -c 0 -n 64 -t ${Math.ceil(cpuSeconds)}; ` +
    `exec env -i "$(command -v node)" --max-old-space-size=${memoryMb} "$HOME/agent/${entry}.mjs"`
  );
}

/**
 * Sandboxes as machines of E2B. Each is a separate virtual machine without internet, and runs the same bundled file under
 * Node. Ends the leftovers of this host from before its restart.
 * @throws SandboxStartError with a text for the operator when E2B refuses access.
 */
export async function createE2bDriver(options: E2bDriverOptions): Promise<SandboxDriver> {
  const { apiKey, template, lookMs = LOOK_MS, onLeft = () => {} } = options;
  const access: E2bAccess = { apiKey, template };
  // The package takes a second to load, and most servers never use it.
  const { Sandbox: E2b } = await import('e2b');
  const connection = {
    apiKey,
    debug: false,
    // The pool tries again, and says so.
    retries: 0,
    ...(options.domain === undefined ? {} : { domain: options.domain }),
    ...(options.apiUrl === undefined ? {} : { apiUrl: options.apiUrl }),
    ...(options.sandboxUrl === undefined ? {} : { sandboxUrl: options.sandboxUrl }),
  };
  const metadata = { service: SERVICE, host: await hostName(options.stateDir) };
  const source: Readonly<Record<SandboxEntry, string>> = {
    runner: await readFile(runnerPath(), 'utf8'),
    evaluator: await readFile(evaluatorPath(), 'utf8'),
  };
  const pace = new StartPace(options.createsPerSecond);
  const closing = new AbortController();
  const starting = new Set<Promise<Sandbox>>();
  /** The machines that are not known to be gone. */
  const tracked = new Map<E2bMachine, E2bSandbox>();

  async function endLeftovers(): Promise<void> {
    try {
      const pages = E2b.list({ ...connection, query: { metadata } });
      while (pages.hasNext) {
        const found = await within(pages.nextItems(), CALL_TIMEOUT_MS, 'list the sandboxes');
        const ends = found.map(({ sandboxId }) => E2b.kill(sandboxId, connection));
        await within(Promise.all(ends), CALL_TIMEOUT_MS, 'end sandboxes of an earlier process');
      }
    } catch (error) {
      throw explainE2bError(error, access);
    }
  }

  /** Makes a sandbox of a machine and counts it until it is gone. */
  function track(machine: E2bMachine, limits: SandboxLimits): E2bSandbox {
    const lifetimeEndsAt = performance.now() + LIFETIME_MS;
    const sandbox = new E2bSandbox(machine, { limits, lifetimeEndsAt, lookMs, onLeft });
    tracked.set(machine, sandbox);
    void sandbox.gone.then(() => tracked.delete(machine));
    return sandbox;
  }

  async function create(entry: SandboxEntry, limits: SandboxLimits): Promise<Sandbox> {
    await pace.turn(closing.signal);
    const settings = {
      ...connection,
      // Longer than the limit of a start: the driver has to know a late machine to end it.
      requestTimeoutMs: limits.startTimeoutMs + LATE_CREATE_MS,
      timeoutMs: LIFETIME_MS,
      metadata,
      allowInternetAccess: false,
      network: { allowPublicTraffic: false },
    };
    const creating = template === undefined ? E2b.create(settings) : E2b.create(template, settings);
    creating.then(
      () => pace.speedUp(),
      (error: unknown) => (isTooMany(error) ? pace.slowDown() : undefined),
    );
    const { machine, sandbox } = await within(
      creating.then((machine) => ({ machine, sandbox: track(machine, limits) })),
      limits.startTimeoutMs,
      'create a sandbox',
    ).catch((error: unknown) => {
      // A later machine has no use any more.
      creating.then((machine) => tracked.get(machine)?.kill()).catch(() => {});
      throw error;
    });
    try {
      const writing = machine.files.write(`agent/${entry}.mjs`, source[entry]);
      await within(writing, limits.startTimeoutMs, 'write the program');
      await sandbox.run(commandFor(entry, limits));
      await awaitReady(sandbox, { entry, timeoutMs: limits.startTimeoutMs });
    } catch (error) {
      await sandbox.kill();
      throw error;
    }
    return sandbox;
  }

  async function start({ entry, limits: given }: StartOptions): Promise<Sandbox> {
    if (closing.signal.aborted) throw new SandboxStartError('the driver is closed');
    const limits = { ...defaultLimits[entry], ...given };
    const start = create(entry, limits);
    starting.add(start);
    try {
      return await start;
    } catch (error) {
      throw closing.signal.aborted
        ? new SandboxStartError('the driver is closed')
        : explainE2bError(error, access);
    } finally {
      starting.delete(start);
    }
  }

  await endLeftovers();
  return {
    name: 'e2b',
    isolation: 'microvm',
    // The machine's memory is the bound. The restarted host ends its leftovers, or E2B does.
    guarantees: { memoryBounded: true, endsWithHost: false },
    capacity: { maxSandboxes: options.maxSandboxes, maxIdleMs: LIFETIME_MS - LONGEST_USE_MS },
    start,
    probe: () => probeE2b(start, options.probeAddress),
    async close() {
      closing.abort();
      await Promise.allSettled(starting);
      // Waits until all machines are gone, also after the end of their commands. The next start on the same state folder ends a
      // machine that E2B does not end in time.
      const ends = [...tracked.values()].map((sandbox) => Promise.all([sandbox.kill(), sandbox.gone]));
      await within(Promise.all(ends), CLOSE_TIMEOUT_MS, 'end all sandboxes').catch(() => {});
    },
  };
}
