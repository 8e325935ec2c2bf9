import { readJson, type Json } from '@agent-rental/contract';
import * as z from 'zod';
import type { ConnectedAnswer } from './connected-answer.js';

const part = z.object({ text: z.string().optional(), data: z.unknown().optional() });
type Part = z.infer<typeof part>;
const artifact = z.object({ artifactId: z.string(), parts: z.array(part).default([]) });
const message = z.object({ parts: z.array(part).default([]) });
const status = z.object({ state: z.string() });
const task = z.object({ id: z.string(), status, artifacts: z.array(artifact).default([]) });

/** A result of JSON-RPC: of a message, of a task, or an event of a stream. */
const result = z.object({
  task: task.optional(),
  message: message.optional(),
  statusUpdate: z.object({ taskId: z.string(), status }).optional(),
  artifactUpdate: z.object({ taskId: z.string(), artifact, append: z.boolean().default(false) }).optional(),
});
const answer = z.union([
  // Of GetTask. The other form takes any object.
  z.object({ result: task.transform((found) => ({ task: found })) }),
  z.object({ result }),
  z.object({ error: z.object({ code: z.number() }) }),
]);

const GOES_ON: ReadonlySet<string> = new Set(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']);

/** Collects all that an A2A agent tells of a task, in any form of the protocol. */
export class TaskOutput {
  /** Set once the agent has named its task. */
  taskId: string | undefined;
  readonly #parts = new Map<string, Part[]>();
  readonly #onText: (delta: string) => void;
  readonly #schema: Record<string, unknown>;
  #sent = '';

  /** @param onText gets the text of the first artifact, as it comes */
  constructor(outputSchema: Record<string, unknown>, onText: (delta: string) => void) {
    this.#schema = outputSchema;
    this.#onText = onText;
  }

  /**
   * Takes one response. @returns the end, once it is known
   * @throws ZodError for another form than the protocol's.
   */
  take(json: unknown): ConnectedAnswer | undefined {
    const read = answer.parse(json);
    // Input or a login is asked of the renter, who is not there.
    if ('error' in read) return 'task_failed';
    const {
      task: whole,
      message: told,
      statusUpdate,
      artifactUpdate,
    } = read.result as z.infer<typeof result>;
    this.taskId = whole?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? this.taskId;
    if (told) return this.#outputOf([told.parts]);
    for (const { artifactId, parts } of whole?.artifacts ?? []) this.#set(artifactId, parts);
    if (artifactUpdate) {
      const { artifactId, parts } = artifactUpdate.artifact;
      this.#set(
        artifactId,
        artifactUpdate.append ? [...(this.#parts.get(artifactId) ?? []), ...parts] : parts,
      );
    }
    const state = whole?.status.state ?? statusUpdate?.status.state;
    if (state === undefined || GOES_ON.has(state)) return undefined;
    return state === 'TASK_STATE_COMPLETED' ? this.#outputOf([...this.#parts.values()]) : 'task_failed';
  }

  #set(artifactId: string, parts: Part[]): void {
    this.#parts.set(artifactId, parts);
    const [first = []] = this.#parts.values();
    const text = textOf(first);
    // What left cannot be taken back: an output that does not begin with it fails in the end.
    if (!text.startsWith(this.#sent) || text.length === this.#sent.length) return;
    this.#onText(text.slice(this.#sent.length));
    this.#sent = text;
  }

  /** The output in the form of the schema: text, or the data of the first part that has some. */
  #outputOf(artifacts: Part[][]): ConnectedAnswer {
    const text = artifacts.map(textOf).filter(Boolean).join('\n');
    if (!text.startsWith(this.#sent)) return 'stream_output';
    const data = artifacts.flat().find((each) => each.data !== undefined)?.data as Json | undefined;
    const types = [this.#schema['type']].flat();
    const takesText = types.includes('string') || (types[0] === undefined && data === undefined);
    if (takesText) return { output: text === '' && data !== undefined ? JSON.stringify(data) : text };
    if (data !== undefined) return { output: data };
    try {
      return { output: readJson(text) as Json };
    } catch {
      return 'answer_not_json';
    }
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text = '' }) => text).join('');
}
