import type { IncomingMessage } from 'node:http';
import { SLOTS_PER_LISTING } from '@agent-rental/contract';
import type { ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';

const LOOK_EVERY_MS = 100;

/** Counts, at the agents and in the database, how many runs of a listing are at work at once. */
export class SlotWatch {
  /** The most tasks of a listing that its agent had at once. */
  mostAtAgent = 0;
  /** The most slots of a listing that were taken at once. */
  mostTaken = 0;
  /** How often each task came to its agent, by the name in it. */
  readonly received = new Map<string, number>();
  readonly #working = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  /** For the agents: a task has come in. */
  readonly onTask = (request: IncomingMessage, body: string): void => {
    const [, name = '', listing = ''] = /<(([^/>]*)[^>]*)>/.exec(body) ?? [];
    this.received.set(name, (this.received.get(name) ?? 0) + 1);
    const now = (this.#working.get(listing) ?? 0) + 1;
    this.#working.set(listing, now);
    this.mostAtAgent = Math.max(this.mostAtAgent, now);
    request.socket.once('close', () => this.#working.set(listing, (this.#working.get(listing) ?? 0) - 1));
  };

  /** Looks at the slots in the database every now and then. */
  watch(market: ReplicaMarket): void {
    const look = async () => {
      const [row] = await market.query<{ most: number }>(
        `select coalesce(max(taken), 0)::integer as most from
          (select count(*) as taken from seats where expires_at > now() group by listing_id) as by_listing`,
      );
      this.mostTaken = Math.max(this.mostTaken, row?.most ?? 0);
    };
    this.#timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
  }

  /** Stops looking; gives what is wrong. */
  end(): string[] {
    clearInterval(this.#timer);
    const wrong: string[] = [];
    if (this.mostAtAgent > SLOTS_PER_LISTING) wrong.push(`an agent had ${this.mostAtAgent} tasks at once`);
    if (this.mostTaken > SLOTS_PER_LISTING)
      wrong.push(`${this.mostTaken} slots of a listing were taken at once`);
    // Else the bound was not tried. Those of a replica that was killed are taken until their leases lapse.
    if (this.mostTaken < SLOTS_PER_LISTING) wrong.push(`at most ${this.mostTaken} slots were taken at once`);
    return wrong;
  }
}
