import type { Readable, Writable } from 'node:stream';
import type { SpawnRequest } from './spawn-process.js';
import type { EndMethod } from './messages.js';

export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SandboxProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Ends the process and all that it started, unless it has ended. */
  end(): void;
  /** Resolves when no part of it is left. */
  readonly ended: Promise<ProcessEnd>;
}

export interface ProcessRequest extends Omit<SpawnRequest, 'pipes'> {
  endMethod: EndMethod;
}

export interface SandboxSpawner {
  /** @throws SandboxStartError with the message of the operating system. */
  spawn(request: ProcessRequest): Promise<SandboxProcess>;
  /** Call it when none of its processes is left. Resolves when the spawner has removed its files and ended its process. */
  close(): Promise<void>;
}
