import type { Replica } from '@agent-rental/test/support/replicas/replica';
import type { Random } from '@agent-rental/test/support/random';
import { elsewhere } from '@agent-rental/test/support/replicas/replica-market';
import { setTimeout as delay } from 'node:timers/promises';

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly bearer: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly replica: Target;
}

type Target = Pick<Replica, 'name' | 'dev' | 'isUp'>;

/** The attempts of a client before it gives up, which is a fault. */
const MOST_ATTEMPTS = 40;
/** A client's longest wait before a retry: enough for a limit of one minute. */
const LONGEST_WAIT_SECONDS = 61;
const AFTER_BREAK_MS = 50;

interface ClientParts {
  readonly random: Random;
  /** All replicas, including killed ones: the client notices the kills itself. */
  readonly replicas: () => readonly Target[];
  readonly broken: string[];
  /** The number of answers by status. 0: the connection broke. */
  readonly statuses?: Record<number, number>;
  readonly onAnswer?: (asked: Asked, got: Got) => void;
}

/**
 * Sends each request to a random replica, like a load balancer without stickiness. A killed replica leaves the rotation when a
 * connection to it breaks.
 */
export class Client {
  /** The number of sent requests, including those with a broken connection. */
  sent = 0;
  readonly #gone = new Set<Target>();
  /** Each bearer's address: all wallets at one address share a limit. */
  readonly #addresses = new Map<string, Record<string, string>>();
  readonly #parts: ClientParts;
  readonly broken: string[];
  readonly statuses: Record<number, number>;

  constructor(parts: ClientParts) {
    this.statuses = parts.statuses ?? {};
    this.#parts = parts;
    this.broken = parts.broken;
  }

  /** Sends a request once. @returns undefined when the connection breaks before the end of the answer. */
  async send(asked: Asked): Promise<Got | undefined> {
    const { random, replicas, onAnswer } = this.#parts;
    const replica = random.pick(replicas().filter((each) => !this.#gone.has(each)));
    this.sent += 1;
    const { method, path, bearer, body } = asked;
    const type = body && { 'content-type': 'application/json' };
    const address = this.#addresses.get(bearer) ?? elsewhere();
    this.#addresses.set(bearer, address);
    const headers = { authorization: `Bearer ${bearer}`, ...address, ...type, ...asked.headers };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    try {
      const response = await fetch(replica.dev.base_url + path, init);
      const text = await response.text();
      const got = { status: response.status, headers: response.headers, text, replica };
      this.#count(got.status);
      onAnswer?.(asked, got);
      this.#judge(asked, got);
      return got;
    } catch {
      this.#count(0);
      if (replica.isUp)
        this.broken.push(`a connection to the running ${replica.name} broke: ${method} ${path}`);
      else this.#gone.add(replica);
      return undefined;
    }
  }

  /**
   * Sends a request until it is answered. Retries an answer 429 or 503 after its `Retry-After`, and a broken connection at once.
   *
   * @param mayRepeat whether a repeated request is safe
   * @returns undefined for an unsafe request whose connection broke or whose run is still running
   */
  async ask(asked: Asked, mayRepeat: boolean): Promise<Got | undefined> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const got = await this.send(asked);
      if (got === undefined) {
        if (!mayRepeat) return undefined;
        await delay(AFTER_BREAK_MS);
      } else if (got.status === 429 || got.status === 503) {
        // The run is still running. Without a key, another request would start another run.
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
