import type { Credential } from '@agent-rental/contract';
import { createDeadline, isApiError, type RentalClient } from '@agent-rental/sdk';
import type { DirectToolDefinition } from './direct-tool-definition.js';
import { defineDirectTool } from './direct-tool.js';

/** Age at which a definition's listing is fetched again. An update reaches tools within this time. */
const MAX_AGE_MS = 60_000;
/** Enough for several callers: with fewer, callers that share a cache would evict each other's entries. */
const MAX_ENTRIES = 4_000;

/** Timeout of a listing's fetch. After it, the tool has no schema. */
const FETCH_TIMEOUT_MS = 5_000;

/** The fields of a rental that its tool needs. */
type RentedCredential = Pick<
  Credential,
  'listing_id' | 'listing_title' | 'rental_model' | 'icon_path' | 'listing'
>;

interface Entry {
  readonly definition: DirectToolDefinition;
  readonly expiresAtMs: number;
}

/**
 * Definitions of direct tools, by listing. They hold no data of a caller, so one cache may serve many callers.
 */
export class DirectToolCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  #freshUntilMs = Number.NEGATIVE_INFINITY;

  /** @param now the clock, in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether the cache has no fresh definition. */
  get isEmpty(): boolean {
    return this.#now() >= this.#freshUntilMs;
  }

  /** Whether the cache has a fresh definition of a listing. */
  has(listingId: string): boolean {
    const known = this.#entries.get(listingId);
    return known !== undefined && this.#now() < known.expiresAtMs;
  }

  /**
   * The definition of a rental's direct tool. If the listing cannot be fetched now, the definition has no schema and is not
   * cached. A deleted listing gives `undefined`.
   *
   * @throws the signal's reason after an abort.
   */
  async definition(
    client: RentalClient,
    credential: RentedCredential,
    signal?: AbortSignal,
  ): Promise<DirectToolDefinition | undefined> {
    const known = this.#entries.get(credential.listing_id);
    if (known !== undefined && this.#now() < known.expiresAtMs) return known.definition;
    if (credential.listing === undefined) return this.#fetched(client, credential, known?.definition, signal);
    const { listing_id: id, listing_title: title, rental_model, icon_path, listing } = credential;
    const icon = icon_path === undefined ? {} : { icon_path };
    const definition = await defineDirectTool({ id, title, rental_model, ...icon, ...listing });
    this.#keep(id, definition);
    return definition;
  }

  async #fetched(
    client: RentalClient,
    credential: RentedCredential,
    old: DirectToolDefinition | undefined,
    signal: AbortSignal | undefined,
  ): Promise<DirectToolDefinition | undefined> {
    const id = credential.listing_id;
    const deadline = createDeadline(FETCH_TIMEOUT_MS, signal);
    try {
      const listing = await client.getListing(id, { signal: deadline.signal });
      if (listing.status === 'closed') return undefined;
      const definition = await defineDirectTool(listing);
      this.#keep(id, definition);
      return definition;
    } catch (error) {
      signal?.throwIfAborted();
      if (isApiError(error) && error.code === 'listing_not_found') return undefined;
      return old ?? defineDirectTool(credential);
    } finally {
      deadline.clear();
    }
  }

  #keep(id: string, definition: DirectToolDefinition): void {
    // Delete first, so that the map's order is the order of use.
    this.#entries.delete(id);
    this.#freshUntilMs = this.#now() + MAX_AGE_MS;
    this.#entries.set(id, { definition, expiresAtMs: this.#freshUntilMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
  }
}

const caches = new WeakMap<RentalClient, DirectToolCache>();

/** The default cache, which all toolsets of a client share. */
export function cacheOf(client: RentalClient): DirectToolCache {
  const cache = caches.get(client) ?? new DirectToolCache();
  caches.set(client, cache);
  return cache;
}
