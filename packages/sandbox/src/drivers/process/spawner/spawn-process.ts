import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { giveDescriptor, inheritedDescriptors } from './inherited-descriptors.js';
import { openPipeEnd } from './named-pipe.js';

/** The process to start, in values that can be sent to another process. */
export interface SpawnRequest {
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Visible to the process, so it must not reveal anything about the host. */
  cwd: string;
  /** User and group of the process, where this process can change them. */
  user?: { uid: number; gid: number };
  /**
   * Files that the child finds open, by its descriptors from 3 on. Its parent opens them, so the child's user needs no right to
   * open them.
   */
  files?: readonly OpenedFile[];
  /** Named pipes for its stdin, stdout and stderr. The names are removed. Without pipes, Node creates pairs of sockets. */
  pipes?: readonly [string, string, string];
}

interface OpenedFile {
  descriptor: number;
  path: string;
  /** `wx`: writes a new file. `w`: writes an existing file. */
  flags: 'r' | 'wx' | 'w';
}

/** Starts processes that inherit nothing from this process. */
export interface ProcessSpawner {
  /** @throws Error of the operating system. */
  spawn(request: SpawnRequest): ChildProcess;
  close(): void;
}

/** Finds the descriptors that children of this process would inherit, and keeps them from the children. */
export function openProcessSpawner(): ProcessSpawner {
  const inherited = inheritedDescriptors();
  const nothing = openSync(devNull, 'r');
  return {
    spawn({ file, args, env, cwd, user, files = [], pipes }) {
      const opened: number[] = [];
      const descriptors: (number | 'pipe' | 'ignore')[] = [];
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
        for (const descriptor of inherited) giveDescriptor(descriptors, descriptor, nothing);
        for (const { descriptor, path, flags } of files) {
          giveDescriptor(descriptors, descriptor, open(openSync(path, flags, 0o600)));
        }
        return spawn(file, args, { cwd, env, ...user, stdio: descriptors, windowsHide: true });
      } finally {
        for (const descriptor of opened) closeSync(descriptor);
      }
    },
    close: () => closeSync(nothing),
  };
}
