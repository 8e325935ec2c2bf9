import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { type Wall, type WalledProgram, walledLaunch } from './bubblewrap-command.js';
import { explainBubblewrapFailure, INSTALL_BUBBLEWRAP, machineFacts } from './explain-bubblewrap.js';
import { locateTool, mostThreads } from '../process/linux-launcher.js';
import { defaultLimits, SandboxProbeError } from '../../sandbox.js';
import { hasSeccompFilter, seccompFilter } from './system-calls/seccomp-filter.js';
import { sharedLibraries } from './shared-libraries.js';

const TRIAL_TIMEOUT_MS = 15_000;

/** Not assigned by systemd or Debian, and valid in containers whose ids end at 65535. */
const SANDBOX_USER = { uid: 60_900, gid: 60_900 };

/**
 * Finds the parts of this machine that hardened sandboxes need.
 * @param folder the folder for the filter of system calls.
 * @throws SandboxProbeError with the missing part and its installation.
 */
export async function findWall(folder: string, bwrap = locateTool('bwrap')): Promise<Wall> {
  if (process.platform !== 'linux') {
    throw new SandboxProbeError('find Linux', `bubblewrap is a tool of Linux; this is ${process.platform}`);
  }
  if (!hasSeccompFilter(process.arch)) {
    const reason = `there is no filter for ${process.arch}, only x64 and arm64`;
    throw new SandboxProbeError('filter system calls', reason);
  }
  if (bwrap === undefined || !existsSync(bwrap)) {
    throw new SandboxProbeError('find bubblewrap', `it is not installed: ${INSTALL_BUBBLEWRAP}`);
  }
  const prlimit = locateTool('prlimit');
  if (prlimit === undefined) {
    throw new SandboxProbeError('find prlimit', 'it is not installed: install util-linux');
  }
  const mkfifo = locateTool('mkfifo');
  if (mkfifo === undefined) {
    throw new SandboxProbeError('find mkfifo', 'it is not installed: install coreutils');
  }
  const filterPath = join(folder, `system-calls-${process.arch}.bpf`);
  writeFileSync(filterPath, seccompFilter(process.arch), { mode: 0o600 });
  return {
    bwrap,
    prlimit,
    prlimitLibraries: await sharedLibraries([prlimit]),
    filterPath,
    mkfifo,
    maxThreads: mostThreads(),
  };
}

/** Runs a program that ends by itself behind the wall. @returns its error text, when it failed. */
async function tryLaunch(wall: Wall, program: WalledProgram): Promise<string | undefined> {
  const { file, args, env, cwd, user } = walledLaunch(wall, program, defaultLimits.runner);
  const filter = openSync(wall.filterPath, 'r');
  const child = spawn(file, args, {
    cwd,
    env,
    ...user,
    stdio: ['ignore', 'ignore', 'pipe', filter],
    timeout: TRIAL_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  closeSync(filter);
  const stderr = child.stderr as Readable;
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : `it ended with ${signal ?? code}`),
    );
  });
  const [failure, said] = await Promise.all([ended, text(stderr).catch(() => '')]);
  return failure === undefined ? undefined : said.trim() || failure;
}

/**
 * Tries to start a program behind the wall. Where this process is root, sandboxes become another user, if that user can read
 * their files. Returns the wall that works, with a notice where it is the weaker one.
 * @throws SandboxProbeError with bubblewrap's text, and the probable reason on this machine.
 */
export async function tryWall(wall: Wall, program: WalledProgram): Promise<{ wall: Wall; notice?: string }> {
  const step = 'start a process behind bubblewrap';
  const facts = machineFacts();
  if (process.getuid?.() !== 0) {
    const said = await tryLaunch(wall, program);
    if (said === undefined) return { wall };
    throw new SandboxProbeError(step, explainBubblewrapFailure(said, facts));
  }
  const asUser = { ...wall, user: SANDBOX_USER };
  const saidToUser = await tryLaunch(asUser, program);
  if (saidToUser === undefined) return { wall: asUser };
  const saidToRoot = await tryLaunch(wall, program);
  if (saidToRoot !== undefined)
    throw new SandboxProbeError(step, explainBubblewrapFailure(saidToRoot, facts));
  return {
    wall,
    notice:
      'The server runs as root, and its sandboxes cannot be another user. Their threads have no limit. ' +
      `${explainBubblewrapFailure(saidToUser, facts)} Run the server as an ordinary user.`,
  };
}
