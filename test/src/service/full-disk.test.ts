import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/http.js';
import { startMarketplace, type OwnMarketplace } from '../support/marketplace.js';

const MEGABYTE = 1_048_576;

/** A separate disk, which only root can mount. */
async function mountDisk(megabytes: number): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-rental-disk-'));
  const { status } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${megabytes}m,mode=755`,
    'tmpfs',
    folder,
  ]);
  if (status === 0) return folder;
  await rm(folder, { recursive: true });
  return undefined;
}

const disk = await mountDisk(700);

describe.runIf(disk !== undefined)('the embedded default on a disk that fills up', () => {
  const folder = disk ?? '';
  let marketplace: OwnMarketplace;
  beforeAll(async () => {
    await mkdir(join(folder, 'state'));
    marketplace = await startMarketplace(join(folder, 'state'), { DISK_RESERVE_MB: '100' });
  }, 120_000);
  afterAll(async () => {
    await marketplace?.stop();
    spawnSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true, force: true });
  });

  const freeBytes = async () => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  };
  /** Writes until so much is free. */
  const fillTo = async (left: number) => {
    const file = join(folder, `filler-${left}`);
    // The server may write meanwhile: then the last bytes are gone before.
    await writeFile(file, Buffer.alloc(Math.max(0, (await freeBytes()) - left))).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOSPC') throw error;
      },
    );
    return file;
  };
  const execute = async (key: string) =>
    call(marketplace, 'POST', '/v1/execute', {
      token: marketplace.apiKey,
      body: await marketplace.request('per_query'),
      headers: { 'idempotency-key': key },
    });
  const reasons = async () =>
    ((await (await fetch(new URL('/ready', marketplace.dev.base_url))).json()) as { reasons: string[] })
      .reasons;

  test('refuses writes, serves reads, survives a full disk, and recovers by itself [OPS-59]', async () => {
    expect((await execute('before')).status).toBe(200);
    const fillers = [await fillTo(60 * MEGABYTE)];
    await expect.poll(reasons, { timeout: 20_000 }).toEqual(['disk']);
    const refused = await execute('while-nearly-full');
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ error: { code: 'service_unavailable' } });
    expect((await call(marketplace, 'GET', '/v1/listings', { token: marketplace.apiKey })).status).toBe(200);

    fillers.push(await fillTo(0));
    // More lines of the log than its buffer holds.
    for (let count = 0; count < 100; count += 1) {
      const answer = await call(marketplace, 'GET', '/v1/runs', { token: marketplace.apiKey });
      expect([200, 503]).toContain(answer.status);
      expect(answer.body).toHaveProperty(answer.status === 200 ? 'runs' : 'error');
    }
    expect((await execute('while-full')).status).toBe(503);
    expect(marketplace.process.exitCode).toBeNull();

    await Promise.all(fillers.map((file) => rm(file)));
    await expect.poll(reasons, { timeout: 30_000 }).toEqual([]);
    // The refused key was not used, and the run of the first is on record once.
    expect((await execute('while-full')).status).toBe(200);
    expect((await execute('before')).body).toMatchObject({ status: 'completed' });
    const log = await readFile(join(folder, 'state', 'server.log'), 'utf8');
    expect(log).toContain('the disk is nearly full: no new runs start');
    await expect
      .poll(() => readFile(join(folder, 'state', 'server.log'), 'utf8'))
      .toContain('the disk has room again');
  }, 120_000);
});
