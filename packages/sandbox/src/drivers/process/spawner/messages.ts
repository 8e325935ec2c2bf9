import type { SpawnRequest } from './spawn-process.js';

/** The way to end a process and all its descendants: end the process, or end the first process in its namespace. */
export type EndMethod = 'process' | 'namespace';

/** Requests of the server to the process that starts sandboxes. The server chooses the ids, and uses each id once. */
export type SpawnerRequest =
  | { do: 'spawn'; id: number; request: SpawnRequest; endMethod: EndMethod }
  | { do: 'end'; id: number };

export type SpawnerReport =
  | { id: number; event: 'spawned'; pid: number }
  | { id: number; event: 'failed'; message: string }
  | { id: number; event: 'exited'; code: number | null; signal: NodeJS.Signals | null };
