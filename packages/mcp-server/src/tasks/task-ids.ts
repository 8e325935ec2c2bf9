import { RESULT_KEPT_HOURS, type RunCallback } from '@agent-rental/tools';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { createHash } from 'node:crypto';
import type { TokenSigner } from '../sessions/signed-token.js';

const PURPOSE = 'mcp-task';
/** Longest id; clients send it back in a header, and most proxies allow 8 KB of headers. */
const MAX_LENGTH = 6_000;

/** Lifetime of a task: the shortest time for which its run's result is kept. */
export const TASK_TTL_MS = RESULT_KEPT_HOURS * 60 * 60 * 1_000;

/** A task of a run. */
export interface RunTaskRecord {
  readonly runId: string;
  readonly createdAtMs: number;
}

/** A call that waits for its user's approval. */
export interface AskingTaskRecord {
  /** The tool, by its name. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Idempotency key of the call. After a start in another process, it gives the same run and the same payment. */
  readonly key: string;
  readonly createdAtMs: number;
  readonly callback?: RunCallback | undefined;
}

/** A task. */
type TaskRecord = RunTaskRecord | AskingTaskRecord;

/**
 * Ids of tasks. An id is the task's record, signed for its caller. Every replica reads it without stored state, also after a
 * restart. A client cannot forge an id or use another caller's id.
 */
export class TaskIds {
  readonly #signer: TokenSigner;
  readonly #caller: string;

  constructor(signer: TokenSigner, callerId: string) {
    this.#signer = signer;
    this.#caller = createHash('sha256').update(callerId).digest('base64url').slice(0, 22);
  }

  /** The id of a task; undefined if its arguments are too long. */
  write(task: TaskRecord): string | undefined {
    const id = this.#signer.write(PURPOSE, { ...task, caller: this.#caller });
    return id.length > MAX_LENGTH ? undefined : id;
  }

  /** @throws ProtocolError for an id of another caller, and for an expired one */
  read(id: string): TaskRecord {
    const task = this.#signer.read(PURPOSE, id) as (TaskRecord & { caller: string }) | undefined;
    if (task?.caller !== this.#caller) throw noTask('it is not a task of this caller.');
    if (Date.now() > task.createdAtMs + TASK_TTL_MS)
      throw noTask(`it has expired: tasks are kept for ${RESULT_KEPT_HOURS} hours.`);
    return task;
  }
}

/** The error for a task that cannot be found. */
export function noTask(reason: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Task not found: ${reason} Runs of this wallet are listed by the marketplace, and get_run shows one by its run_id.`,
  );
}
