import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { inheritedDescriptors } from './inherited-descriptors.js';
import { openPipeEnd } from './named-pipe.js';

/** What to start, in values that can be sent to another process. */
export interface SpawnRequest {
  file: string;
  args: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** Visible to the process, so it must not tell anything of the host. */
  cwd: string;
  /** User and group of the process, where this process can change them. */
  user?: { uid: number; gid: number };
  /**
   * Files that it finds open, by its own descriptors from 3 on. The process that starts it opens them: they need not be
   * open to the user that the child is.
   */
  files?: readonly OpenedFile[];
  /** Named pipes for its stdin, stdout and stderr; they lose their names. Without them, Node creates pairs of sockets. */
  pipes?: readonly [string, string, string];
}

/** A file that a child finds open. */
interface OpenedFile {
  descriptor: number;
  path: string;
  /** `wx`: a new file, to be written; `w`: one that is there. */
  flags: 'r' | 'wx' | 'w';
}

/** Starts processes that inherit nothing of this one. */
export interface ProcessSpawner {
  /** @throws Error of the operating system. */
  spawn(request: SpawnRequest): ChildProcess;
  close(): void;
}

/** Notes what this process would hand on to its children, and keeps it from them. */
export function openProcessSpawner(): ProcessSpawner {
  const inherited = inheritedDescriptors();
  const nothing = openSync(devNull, 'r');
  return {
    spawn({ file, args, env, cwd, user, files = [], pipes }) {
      const opened: number[] = [];
      const descriptors: (number | 'pipe' | 'ignore')[] = [];
      const give = (descriptor: number, given: number): void => {
        while (descriptors.length < descriptor) descriptors.push('ignore');
        descriptors[descriptor] = given;
      };
      const open = (descriptor: number): number => {
        opened.push(descriptor);
        return descriptor;
      };
      try {
        if (pipes === undefined) descriptors.push('pipe', 'pipe', 'pipe');
        else {
          pipes.forEach((path, at) => {
            descriptors.push(open(openPipeEnd(path, { reads: at === 0, blocks: true, removesName: true })));
          });
        }
        // The child gets /dev/null for each descriptor that it would inherit.
        for (const descriptor of inherited) give(descriptor, nothing);
        for (const { descriptor, path, flags } of files) give(descriptor, open(openSync(path, flags, 0o600)));
        return spawn(file, args, { cwd, env, ...user, stdio: descriptors, windowsHide: true });
      } finally {
        for (const descriptor of opened) closeSync(descriptor);
      }
    },
    close: () => closeSync(nothing),
  };
}
