import type { IncomingMessage } from 'node:http';
import { SLOTS_PER_LISTING } from '@agent-rental/contract';
import type { ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';

const LOOK_EVERY_MS = 100;

/** Counts a listing's concurrent runs, at the agents and in the database. */
export class SlotWatch {
  /** The most concurrent tasks of a listing at its agent. */
  mostAtAgent = 0;
  mostTaken = 0;
  readonly #working = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  readonly onTask = (request: IncomingMessage, body: string): void => {
    const [, listing = ''] = /<([^/>]*)[^>]*>/.exec(body) ?? [];
    const now = (this.#working.get(listing) ?? 0) + 1;
    this.#working.set(listing, now);
    this.mostAtAgent = Math.max(this.mostAtAgent, now);
    request.socket.once('close', () => this.#working.set(listing, (this.#working.get(listing) ?? 0) - 1));
  };

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

  /** Stops the counts. @returns the faults. */
  end(): string[] {
    clearInterval(this.#timer);
    const wrong: string[] = [];
    if (this.mostAtAgent > SLOTS_PER_LISTING) wrong.push(`an agent had ${this.mostAtAgent} tasks at once`);
    if (this.mostTaken > SLOTS_PER_LISTING)
      wrong.push(`${this.mostTaken} slots of a listing were taken at once`);
    // Fewer slots would mean that the load did not reach the bound. A killed replica's slots stay taken until their leases expire.
    if (this.mostTaken < SLOTS_PER_LISTING) wrong.push(`at most ${this.mostTaken} slots were taken at once`);
    return wrong;
  }
}
