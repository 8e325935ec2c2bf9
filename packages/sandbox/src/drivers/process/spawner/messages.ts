import type { SpawnRequest } from './spawn-process.js';

/** How a process and all that it started is ended: by its own end, or by the end of the first process in its namespace. */
export type EndMethod = 'process' | 'namespace';

/** Requests of the server to the process that starts sandboxes. Ids are the server's; an id is used once. */
export type SpawnerRequest =
  | { do: 'spawn'; id: number; request: SpawnRequest; endMethod: EndMethod }
  | { do: 'end'; id: number };

/** Reports of that process about each. */
export type SpawnerReport =
  | { id: number; event: 'spawned'; pid: number }
  | { id: number; event: 'failed'; message: string }
  | { id: number; event: 'exited'; code: number | null; signal: NodeJS.Signals | null };
