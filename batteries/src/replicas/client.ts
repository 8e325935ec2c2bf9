import type { Replica } from '@agent-rental/test/support/replicas/replica';
import type { Random } from '@agent-rental/test/support/random';
import { setTimeout as delay } from 'node:timers/promises';

/** A request, to any replica. */
export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly bearer: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer, whole. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Who answered. */
  readonly replica: Replica;
}

/** What a client is told before it gives up, which none should. */
const MOST_ATTEMPTS = 40;
/** A client that was told to come back waits at most for so long: for a limit of a minute. */
const LONGEST_WAIT_SECONDS = 61;
const AFTER_BREAK_MS = 50;

/**
 * Sends requests as a good client of a load balancer does: each to any replica in rotation, without stickiness. A replica whose
 * connection breaks and that is gone leaves the rotation.
 */
export class Client {
  /** Requests that were sent, those that broke included. */
  sent = 0;
  /** How often each status came; 0: the connection broke. */
  readonly statuses: Record<number, number> = {};
  readonly #random: Random;
  readonly #all: () => readonly Replica[];
  readonly #gone = new Set<Replica>();
  readonly #onAnswer: (asked: Asked, got: Got) => void;
  /** Why answers are wrong. */
  readonly broken: string[];

  constructor(parts: {
    random: Random;
    /** The replicas that the client is told of, those that are gone included: it finds that out. */
    replicas: () => readonly Replica[];
    broken: string[];
    onAnswer?: (asked: Asked, got: Got) => void;
  }) {
    this.#random = parts.random;
    this.#all = parts.replicas;
    this.#onAnswer = parts.onAnswer ?? (() => undefined);
    this.broken = parts.broken;
  }

  /** A replica that is not known to be gone. */
  #pick(): Replica {
    return this.#random.pick(this.#all().filter((replica) => !this.#gone.has(replica)));
  }

  /** Sends a request once; undefined where the connection broke before the answer was whole. */
  async send(asked: Asked): Promise<Got | undefined> {
    const replica = this.#pick();
    this.sent += 1;
    const { method, path, bearer, body, headers = {} } = asked;
    try {
      const response = await fetch(replica.dev.base_url + path, {
        method,
        headers: {
          authorization: `Bearer ${bearer}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const got = {
        status: response.status,
        headers: response.headers,
        text: await response.text(),
        replica,
      };
      this.#count(got.status);
      this.#onAnswer(asked, got);
      this.#judge(asked, got);
      return got;
    } catch {
      this.#count(0);
      if (replica.isUp)
        this.broken.push(`a connection to ${replica.name}, which is up, broke: ${method} ${path}`);
      else this.#gone.add(replica);
      return undefined;
    }
  }

  /**
   * Sends a request until it is answered: again where the connection broke, if `mayRepeat` says that this is safe, and after the
   * time that an answer 429 or 503 names. Undefined where it broke, or a run goes on, and it may not be repeated.
   */
  async ask(asked: Asked, mayRepeat: boolean): Promise<Got | undefined> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const got = await this.send(asked);
      if (got === undefined) {
        if (!mayRepeat) return undefined;
        await delay(AFTER_BREAK_MS);
      } else if (got.status === 429 || got.status === 503) {
        // The run goes on: without a key another request would be another run.
        if (!mayRepeat && got.text.includes('"run_id"')) return undefined;
        const seconds = Number(got.headers.get('retry-after'));
        await delay(1_000 * Math.min(LONGEST_WAIT_SECONDS, Math.max(seconds, 0.2)));
      } else return got;
    }
    this.broken.push(`no answer after ${MOST_ATTEMPTS} attempts: ${asked.method} ${asked.path}`);
    return undefined;
  }

  #count(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  #judge({ method, path }: Asked, { status, headers, text, replica }: Got): void {
    if (status === 500 || status === 401)
      this.broken.push(`${status} of ${method} ${path} at ${replica.name}: ${text}`);
    if ((status === 429 || status === 503) && !(Number(headers.get('retry-after')) > 0))
      this.broken.push(`${status} without Retry-After: ${method} ${path}: ${text}`);
  }
}
