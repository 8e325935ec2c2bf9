import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';

const ANSWER_MS = 60_000;
const CONNECTION_BROKE = 'the connection broke';

/** Judges the answers of a service after the kill of a part. */
export class Answers {
  /** Forbidden answers and forbidden broken connections. */
  readonly wrong: string[] = [];
  readonly counts: Record<string, number> = {};
  /** Whether connections may break, because the battery kills the server itself. */
  mayBreak = false;

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** `fetch` with judged answers. Rejects when the connection breaks or the request times out. */
  readonly fetch: typeof fetch = async (url, init) => {
    let response: Response;
    let text: string;
    const deadline = createDeadline(ANSWER_MS, init?.signal ?? undefined);
    try {
      response = await fetch(url, { ...init, signal: deadline.signal });
      text = await response.text();
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      if (deadline.isOver) this.wrong.push(`no answer within ${ANSWER_MS / 1000} s`);
      else if (!this.mayBreak) this.wrong.push(`${CONNECTION_BROKE}: ${reasonOf(error)}`);
      this.#count(CONNECTION_BROKE);
      throw error;
    } finally {
      deadline.clear();
    }
    const { status, headers } = response;
    this.#count(String(status));
    if (status >= 500) this.#judge(status, headers, text);
    return new Response(text, { status, headers });
  };

  /** Requires 503 in the error envelope, with `Retry-After` and without internal details. */
  #judge(status: number, headers: Headers, text: string): void {
    const told = `${status}: ${text.slice(0, 300)}`;
    if (status !== 503) this.wrong.push(`answered ${told}`);
    if (headers.get('retry-after') === null) this.wrong.push(`without Retry-After: ${told}`);
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    if (code !== 'service_unavailable') this.wrong.push(`without the envelope: ${told}`);
    if (/\bat .*:\d+:\d+|ECONN|postgres|node_modules/i.test(text))
      this.wrong.push(`with internal details: ${told}`);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error
    ? `${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.message}`
    : String(cause);
}

export const beforeAskingAgain = (): Promise<void> => delay(200);
