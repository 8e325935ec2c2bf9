import { access, constants, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { network } from '@agent-rental/contract';
import { Redis } from 'ioredis';
import { openSandboxes } from '../../compose/index.js';
import type { Config } from '../../config/index.js';
import { boundedFetch } from './bounded-fetch.js';
import { check, ok, problem, warning, type Checked, type Finding } from './check.js';

const REQUEST_TIMEOUT_MS = 5_000;
const SANDBOX_TIMEOUT_MS = 60_000;
const GIB = 2 ** 30;
const LEAST_FREE_BYTES = 0.1 * GIB;
const COMFORTABLE_FREE_BYTES = 2 * GIB;
/** The empty block, whose bytes are in its own address. */
const EMPTY_CID = 'bafkqaaa';
const SILENT = { info: () => undefined, warn: () => undefined };

/** Examines the other parts of the service, beside its database and the chain. */
export function checkService(config: Config, address: ServiceAddress): Promise<Checked[]> {
  return Promise.all([
    check('redis', () => findRedis(config)),
    check('sandbox', () => findSandbox(config), SANDBOX_TIMEOUT_MS),
    check('storage', () => findStorage(config)),
    check('disk', () => findSpace(config)),
    check('public url', () => findService(config, address)),
  ]);
}

/** Where the service should answer, and for which program. */
export interface ServiceAddress {
  url: string;
  programId: string;
}

async function findRedis({ redisUrl, replicas }: Config): Promise<Finding> {
  if (redisUrl === undefined) {
    return replicas > 1
      ? problem(
          `REPLICAS is ${replicas} without REDIS_URL`,
          'Set REDIS_URL: each replica counts limits for itself.',
        )
      : ok('none: limits are in memory, for one replica');
  }
  const { host } = new URL(redisUrl);
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: REQUEST_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason = '';
  redis.on('error', (error: NodeJS.ErrnoException) => (reason = error.code ?? error.message));
  try {
    await redis.connect();
    await redis.ping();
    return ok(`${host} answers`);
  } catch (error) {
    return problem(
      `${host} does not answer (${reason || (error as Error).message})`,
      'Start Redis, or correct REDIS_URL. Limits are counted by each replica meanwhile.',
    );
  } finally {
    redis.disconnect();
  }
}

async function findSandbox(config: Config): Promise<Finding> {
  // A new folder: a running server's folder holds sandboxes in use.
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-doctor-'));
  try {
    const driver = await openSandboxes(config.sandbox, folder, SILENT);
    const { name, isolation, notices = [] } = driver;
    await driver.close();
    const detail = `${name} was tried out, isolation ${isolation}`;
    return notices.length === 0 ? ok(detail) : warning(detail, notices.join(' '));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findStorage({ storage, databaseUrl, stateDir }: Config): Promise<Finding> {
  const { ipfsGateways, arweaveGateways, arweave, ipfsNode } = storage;
  const bearer = (token: string | undefined) =>
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const asked = [
    ...ipfsGateways.map((url) => ask('IPFS_GATEWAY_URLS', url, `/ipfs/${EMPTY_CID}`)),
    ...arweaveGateways.map((url) => ask('ARWEAVE_GATEWAY_URLS', url, '/info')),
    ...(arweave ? [ask('ARWEAVE_BUNDLER_URL', arweave.bundlerUrl, '/')] : []),
    ...(ipfsNode
      ? [
          ask('IPFS_API_URL', ipfsNode.url, '/api/v0/version', {
            method: 'POST',
            headers: bearer(ipfsNode.token),
          }),
        ]
      : []),
  ];
  const faults = (await Promise.all(asked)).filter((fault) => fault !== undefined);
  if (arweave) await access(arweave.keyFile, constants.R_OK);
  if (faults.length > 0) return problem(faults.join('; '), 'Correct that variable, or mend the service.');
  if (databaseUrl !== undefined) return ok(`in the database; ${asked.length} services outside answer`);
  const folder = join(stateDir, 'content');
  const isWritable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return problem(
      `${folder} cannot be written to`,
      'Correct its owner or STATE_DIR, or start the server once.',
    );
  return ok(`in ${folder}; ${asked.length} services outside answer`);
}

/** The fault of a service; undefined where it answers. A missing page is an answer, a refused token is not. */
async function ask(
  variable: string,
  url: string,
  path: string,
  init: RequestInit = {},
): Promise<string | undefined> {
  const { host } = new URL(url);
  try {
    const { status } = await boundedFetch(url.replace(/\/+$/, '') + path, REQUEST_TIMEOUT_MS, init);
    return status >= 500 || status === 401 || status === 403
      ? `${variable}: ${host} answers ${status}`
      : undefined;
  } catch {
    return `${variable}: ${host} does not answer`;
  }
}

async function findSpace({ stateDir }: Config): Promise<Finding> {
  const { bavail, bsize } = await statfs(stateDir).catch(() => statfs('.'));
  const free = bavail * bsize;
  const detail = `${(free / GIB).toFixed(1)} GiB free at ${stateDir}`;
  if (free < LEAST_FREE_BYTES) return problem(detail, 'Make room: nothing can be written soon.');
  return free < COMFORTABLE_FREE_BYTES
    ? warning(detail, 'Make room, or name another STATE_DIR.')
    : ok(detail);
}

async function findService({ publicUrl }: Config, { url, programId }: ServiceAddress): Promise<Finding> {
  const told = await boundedFetch(`${url.replace(/\/+$/, '')}/v1/network`, REQUEST_TIMEOUT_MS).then(
    async (response) => network.safeParse(await response.json().catch(() => undefined)).data,
    () => null,
  );
  if (told === null) {
    return problem(
      `${url} does not answer`,
      'Start the server; then look at the proxy and the name in PUBLIC_URL.',
    );
  }
  if (told === undefined) return problem(`${url} is another service`, 'Correct PUBLIC_URL or the proxy.');
  if (told.program_id !== programId) {
    return problem(
      `${url} uses the program ${told.program_id}, and not ${programId}`,
      'Correct PROGRAM_ID or PUBLIC_URL.',
    );
  }
  const { protocol, hostname } = new URL(url);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (isLoopback)
    return ok(publicUrl === undefined ? `${url} answers; others cannot reach it` : `${url} answers`);
  return protocol === 'https:'
    ? ok(`${url} answers`)
    : warning(
        `${url} answers, without TLS`,
        'Put a proxy with a certificate before it: tokens travel in the clear.',
      );
}
