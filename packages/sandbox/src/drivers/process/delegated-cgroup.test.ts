import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CgroupPlaces, endLeftCgroup, findDelegatedCgroup } from './delegated-cgroup.js';

const OTHER = 4_000_000;
const CHILD = 4_000_001;

let mount: string;
let places: CgroupPlaces;

/** Ordinary files in place of the kernel's. They show the writes, and bound nothing. */
async function cgroup(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(mount, path), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(mount, path, name), text);
}
const unit = (changes: Readonly<Record<string, string>> = {}): Promise<void> =>
  cgroup('unit', {
    'cgroup.controllers': 'memory pids',
    'cgroup.procs': '',
    'cgroup.type': 'domain',
    ...changes,
  });
const read = (path: string): Promise<string> => readFile(join(mount, path), 'utf8');

beforeEach(async () => {
  mount = await mkdtemp(join(tmpdir(), 'cgroup-'));
  const parents = new Map([[CHILD, process.pid]]);
  places = { mount, ownCgroup: () => '0::/unit\n', parentOf: (pid) => parents.get(pid) ?? 1 };
  await cgroup('', { 'cgroup.controllers': 'cpu memory pids' });
});
afterEach(() => rm(mount, { recursive: true }));

describe.runIf(process.platform === 'linux')('a cgroup that is left to the server', () => {
  test.each([
    ['without cgroups of version 2', { remove: 'cgroup.controllers' }, /no cgroup v2/],
    ['in a cgroup of version 1', { own: '4:memory:/x\n' }, /in no cgroup v2/],
    ['in a cgroup out of its sight', { own: '0::/../other\n' }, /in no cgroup v2/],
    ['in a cgroup that is not there', { own: '0::/none\n' }, /reading its controllers failed/],
  ])(
    'is absent on a machine %s, and the reason is reported',
    async (_what, { remove, own }: { remove?: string; own?: string }, reason) => {
      await unit();
      if (remove !== undefined) await rm(join(mount, remove));
      if (own !== undefined) places.ownCgroup = () => own;
      expect(findDelegatedCgroup(places)).toMatch(reason);
    },
  );

  test('is absent without its controllers, or beside foreign processes', async () => {
    await unit({ 'cgroup.controllers': 'cpu pids' });
    expect(findDelegatedCgroup(places)).toMatch(/no controller for memory$/);
    const processes = `${process.pid}\n${OTHER}\n`;
    await unit({ 'cgroup.procs': processes });
    expect(findDelegatedCgroup(places)).toMatch(/1 other processes.*Delegate=memory pids/);
    expect(await readdir(join(mount, 'unit')), 'nothing was moved').not.toContain('agent-rental-server');
  });

  test('has the server and its children beside the sandboxes, and bounds each of these', async () => {
    const processes = `${process.pid}\n${CHILD}\n`;
    await unit({ 'cgroup.controllers': 'cpu memory pids', 'cgroup.procs': processes });
    // The kernel would remove these with the trial.
    const found = findDelegatedCgroup(places);
    expect(await read('unit/agent-rental-server/cgroup.procs')).toBe(String(CHILD));
    expect(await read('unit/cgroup.subtree_control')).toBe('+memory +pids');
    expect(await read('unit/agent-rental-sandboxes/cgroup.subtree_control')).toBe('+memory +pids');
    expect(await read('unit/agent-rental-sandboxes/trial/pids.max')).toBe('1');
    expect(found, 'a folder of files is not removed like a cgroup').toMatch(/bounding a cgroup failed/);
  });

  test('is found again by a server that moved there earlier', async () => {
    places.ownCgroup = () => '0::/unit/agent-rental-server\n';
    await unit();
    expect(findDelegatedCgroup(places)).toMatch(/bounding a cgroup failed/);
    expect(existsSync(join(mount, 'unit/agent-rental-sandboxes'))).toBe(true);
  });

  test('of a leftover sandbox is ended, and nothing else', async () => {
    await cgroup('unit/agent-rental-sandboxes/left', { 'cgroup.kill': '' });
    await cgroup('unit/other', { 'cgroup.kill': '' });
    expect(endLeftCgroup(join(mount, 'unit/other'), mount)).toBe(false);
    expect(endLeftCgroup('/etc/agent-rental-sandboxes/x', mount)).toBe(false);
    expect(endLeftCgroup(join(mount, 'unit/agent-rental-sandboxes/none'), mount)).toBe(false);
    expect(endLeftCgroup(join(mount, 'unit/agent-rental-sandboxes/left'), mount)).toBe(true);
    expect(await read('unit/agent-rental-sandboxes/left/cgroup.kill')).toBe('1');
    expect(await read('unit/other/cgroup.kill')).toBe('');
  });
});
