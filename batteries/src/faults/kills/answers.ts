import { setTimeout as delay } from 'node:timers/promises';
import { createDeadline } from '@agent-rental/sdk';

/** The longest that anybody waits for one answer. */
const ANSWER_MS = 60_000;
const CONNECTION_BROKE = 'the connection broke';

/** What a service that lost a part may answer, and what it may not. */
export class Answers {
  /** Answers and broken connections that must not be. */
  readonly wrong: string[] = [];
  readonly counts: Record<string, number> = {};
  /** Whether the server itself is killed: then connections break. */
  mayBreak = false;

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** `fetch`, whose answers are judged. Rejects where the connection broke, and where no answer came in time. */
  readonly fetch: typeof fetch = async (url, init) => {
    let response: Response;
    let text: string;
    const deadline = createDeadline(ANSWER_MS, init?.signal ?? undefined);
    try {
      response = await fetch(url, { ...init, signal: deadline.signal });
      text = await response.text();
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      if (deadline.isOver) {
        this.wrong.push(`no answer within ${ANSWER_MS / 1000} s`);
      } else if (!this.mayBreak) this.wrong.push(`${CONNECTION_BROKE}: ${reasonOf(error)}`);
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

  /** 503 in the envelope of errors, with the time after which to come back; nothing of the inside. */
  #judge(status: number, headers: Headers, text: string): void {
    const told = `${status}: ${text.slice(0, 300)}`;
    if (status !== 503) this.wrong.push(`answered ${told}`);
    if (headers.get('retry-after') === null) this.wrong.push(`without Retry-After: ${told}`);
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    if (code !== 'service_unavailable') this.wrong.push(`without the envelope: ${told}`);
    if (/\bat .*:\d+:\d+|ECONN|postgres|node_modules/i.test(text))
      this.wrong.push(`tells of the inside: ${told}`);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error
    ? `${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.message}`
    : String(cause);
}

/** Waits as a client does that asks again. */
export const beforeAskingAgain = (): Promise<void> => delay(200);
