import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  bundleProgram,
  isRoot,
  makeSharedFolder,
  ordinaryUser,
  Program,
  removeFolder,
} from '../postgres/program.test-support.js';
import {
  openStateFolder,
  StateFolderError,
  StateFolderInUseError,
  type StateFolder,
} from './state-folder.js';

/** Opens the folder at the command `open`, and reports the result. */
const OPENER = `
  import { createInterface } from 'node:readline';
  import { openStateFolder } from './state-folder.js';
  let held;
  const answer = (text) => process.stdout.write(text + '\\n');
  const commands = {
    open: () => openStateFolder(process.argv[2]).then((folder) => { held = folder; answer('held'); }),
    close: () => held.close().then(() => answer('closed')),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    commands[line]().catch((error) => answer(error.name + ': ' + error.message));
  });
  answer('loaded');
`;

let shared: string;
let opener: string;
let counter = 0;
const programs: Program[] = [];
const opened: StateFolder[] = [];

beforeAll(async () => {
  shared = makeSharedFolder('state');
  opener = await bundleProgram(shared, 'opener', OPENER, import.meta.dirname);
});
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()));
  await Promise.all(opened.splice(0).map((folder) => folder.close()));
});
afterAll(() => removeFolder(shared));

/** A path in a folder that the ordinary user may write to. */
function newPath(): string {
  const parent = join(shared, `home ${(counter += 1)}`);
  mkdirSync(parent);
  if (ordinaryUser.uid !== undefined) chownSync(parent, ordinaryUser.uid, ordinaryUser.gid);
  return join(parent, 'state folder');
}

async function open(path: string): Promise<StateFolder> {
  const folder = await openStateFolder(path);
  opened.push(folder);
  return folder;
}

async function startOpener(path: string, user: { uid?: number; gid?: number } = {}): Promise<Program> {
  const program = new Program(opener, [path], user);
  programs.push(program);
  expect(await program.receive()).toBe('loaded');
  return program;
}

function latestLock(path: string): string {
  const names = readdirSync(path).filter((name) => name.startsWith('lock.'));
  expect(names).toHaveLength(1);
  return join(path, names[0] ?? '');
}

const LockContent = z.object({ pid: z.number(), started: z.string(), machine: z.string() });

function readLock(path: string): z.infer<typeof LockContent> {
  return LockContent.parse(JSON.parse(readFileSync(latestLock(path), 'utf8')));
}

describe('openStateFolder', () => {
  it('makes a private folder and names its holder in a readable file', async () => {
    const folder = await open(newPath());
    expect(statSync(folder.path).mode & 0o707).toBe(0o700);
    expect(readLock(folder.path).pid).toBe(process.pid);
  });

  it('opens again after close, which may be called twice', async () => {
    const path = newPath();
    for (let round = 0; round < 3; round += 1) {
      const folder = await openStateFolder(path);
      await folder.close();
      await folder.close();
    }
    await expect(open(path)).resolves.toMatchObject({ path });
  });

  it('tells a second process in one line who holds the folder', async () => {
    const path = newPath();
    const holder = await startOpener(path);
    holder.send('open');
    expect(await holder.receive()).toBe('held');
    const error = await openStateFolder(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StateFolderInUseError);
    expect(error).toMatchObject({
      pid: holder.pid,
      message: `The state folder ${path} is in use by process ${holder.pid}; stop it or set STATE_DIR to another folder.`,
    });
  });

  it.each(isRoot ? ['root', 'an ordinary user'] : ['an ordinary user'])(
    'lets exactly one of several simultaneous processes of %s in, after a close and after kill -9',
    async (user) => {
      const identity = user === 'root' ? {} : ordinaryUser;
      const path = newPath();
      let contenders = await Promise.all(Array.from({ length: 4 }, () => startOpener(path, identity)));
      for (let round = 0; round < 12; round += 1) {
        for (const contender of contenders) contender.send('open');
        const answers = await Promise.all(contenders.map((contender) => contender.receive()));
        const winners = contenders.filter((_, index) => answers[index] === 'held');
        const [winner] = winners;
        if (winner === undefined || winners.length > 1) throw new Error(`not one winner: ${answers.join()}`);
        for (const answer of answers.filter((text) => text !== 'held')) {
          expect(answer).toContain(`in use by process ${winner.pid};`);
        }
        if (round % 4 === 3) {
          await winner.kill();
          contenders = contenders.filter((contender) => contender !== winner);
          contenders.push(await startOpener(path, identity));
        } else {
          winner.send('close');
          await winner.receive();
        }
      }
    },
  );

  it('is not held by a stranger that got the pid of a dead holder', async () => {
    const path = newPath();
    await (await openStateFolder(path)).close();
    const folder = await openStateFolder(path);
    const lock = readLock(path);
    await folder.close();
    writeFileSync(latestLock(path), JSON.stringify({ ...lock, started: `${lock.started}1` }));
    await expect(open(path)).resolves.toMatchObject({ path });
  });

  it('is not held by a lock file that a power failure cut short', async () => {
    const path = newPath();
    await (await openStateFolder(path)).close();
    writeFileSync(latestLock(path), '{"pid":');
    await expect(open(path)).resolves.toMatchObject({ path });
  });

  it('watches the beat of a holder whose pid it cannot check, as in another container', async () => {
    const path = newPath();
    await (await openStateFolder(path)).close();
    const lock = latestLock(path);
    writeFileSync(lock, JSON.stringify({ pid: 7, started: '1', machine: 'elsewhere' }));
    const beat = setInterval(() => utimesSync(lock, new Date(), new Date()), 50);
    try {
      await expect(openStateFolder(path)).rejects.toThrow('in use by process 7;');
    } finally {
      clearInterval(beat);
    }
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(lock, longAgo, longAgo);
    await expect(open(path)).resolves.toMatchObject({ path });
  });

  it('keeps the beat of the lock it holds', async () => {
    const folder = await open(newPath());
    const lock = latestLock(folder.path);
    const before = statSync(lock).mtimeMs;
    await expect.poll(() => statSync(lock).mtimeMs, { timeout: 5_000 }).toBeGreaterThan(before);
  });

  it('says in one line that the place cannot be written', async () => {
    const path = newPath();
    const parent = join(path, '..');
    if (isRoot) chownSync(parent, 0, 0);
    chmodSync(parent, 0o555);
    const program = await startOpener(path, ordinaryUser);
    program.send('open');
    expect(await program.receive()).toBe(
      `StateFolderError: The state folder ${path} cannot be used: this user may not write there; set STATE_DIR to another folder.`,
    );
    chmodSync(parent, 0o755);
  });

  it('says in one line that the path leads through a file', async () => {
    const path = newPath();
    writeFileSync(path, '');
    await expect(openStateFolder(path)).rejects.toThrow(`The state folder ${path} is not a folder;`);
    await expect(openStateFolder(join(path, 'below'))).rejects.toThrow('part of its path is not a folder');
  });

  it('refuses a folder that everybody can write to', async () => {
    const path = newPath();
    mkdirSync(path);
    chmodSync(path, 0o777);
    const error = await openStateFolder(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StateFolderError);
    expect(error).toMatchObject({ folder: path });
    expect(String(error)).toContain('can be written by every user');
  });

  it.runIf(isRoot)('refuses a folder of another user', async () => {
    const path = newPath();
    mkdirSync(path);
    chownSync(path, 65_534, 65_534);
    await expect(openStateFolder(path)).rejects.toThrow(
      `The state folder ${path} belongs to user id 65534, and this process runs as 0;`,
    );
  });

  it.runIf(isRoot)('leaves the mode of a folder with contents alone', async () => {
    const path = newPath();
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(path, 'letter.txt'), '');
    await open(path);
    expect(statSync(path)).toMatchObject({ gid: 0 });
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });
});
