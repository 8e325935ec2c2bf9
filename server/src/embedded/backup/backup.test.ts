import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../postgres/postgres.js';
import { backUp } from './backup.js';
import { restore } from './restore.js';

let folder: string;
const states: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup '));
});
afterAll(async () => {
  for (const stateDir of states) await removeEmbeddedPostgres({ stateDir }).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

async function newState(name: string): Promise<string> {
  const stateDir = await mkdtemp(join(folder, `${name}-`));
  states.push(stateDir);
  return stateDir;
}

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

describe('a backup of a running PostgreSQL', () => {
  it('has all that was committed before it [OPS-79]', async () => {
    const stateDir = await newState('original');
    const first = await startEmbeddedPostgres({ stateDir });
    await ask(first.url, 'create table kept as select generate_series(1, 50000) as n');
    const backup = join(folder, 'copy');
    try {
      // More than the log holds in one file is written while it is copied.
      const writing = ask(first.url, 'create table meanwhile as select generate_series(1, 300000) as n');
      const { files } = await backUp(stateDir, backup);
      await writing;
      expect(files.map(({ path }) => path)).toContain('database/backup_label');
    } finally {
      await first.stop();
    }
    const restored = join(folder, 'restored');
    states.push(restored);
    await restore(backup, restored);
    const second = await startEmbeddedPostgres({ stateDir: restored });
    try {
      expect(
        await ask(second.url, 'select count(*)::int as n, sum(n)::bigint::text as sum from kept'),
      ).toEqual([{ n: 50_000, sum: '1250025000' }]);
    } finally {
      await second.stop();
    }
  }, 120_000);

  it('that fails leaves nothing behind, and a folder with a file too many is no backup [OPS-79]', async () => {
    const empty = await newState('empty');
    await expect(backUp(empty, join(folder, 'none'))).rejects.toThrow(/no state folder of a marketplace/);
    const names = await readdir(folder);
    expect(names.filter((name) => name.startsWith('none'))).toEqual([]);
    await writeFile(join(folder, 'copy/state/extra'), '');
    await expect(restore(join(folder, 'copy'), join(folder, 'never'))).rejects.toThrow(/does not list/);
    await rm(join(folder, 'copy/state/extra'));
    const label = join(folder, 'copy/database/backup_label');
    await writeFile(label, `${await readFile(label, 'utf8')} `);
    await expect(restore(join(folder, 'copy'), join(folder, 'never'))).rejects.toThrow(
      /backup_label is damaged/,
    );
    expect(await readdir(folder)).not.toContain('never');
  });
});
