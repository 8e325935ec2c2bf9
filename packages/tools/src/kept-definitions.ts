import type { Listing } from '@agent-rental/contract';
import equal from 'fast-deep-equal';
import type { DirectToolDefinition } from './direct-tool.js';
import { roughLength } from './portable-schema/rough-length.js';

/** How much is kept: some megabytes, whatever creators write. */
const MAX_ENTRIES = 2_000;
const MAX_LENGTH = 4_000;

/** Everything that a definition is made of. */
export type DescribedListing = Pick<
  Listing,
  'id' | 'title' | 'description' | 'rental_model' | 'price_lamports' | 'input_schema'
>;

interface Kept {
  readonly listing: DescribedListing;
  readonly definition: DirectToolDefinition;
}

/**
 * By id, in halves: when the one in use is full, it becomes the older one, and what nobody has asked for since goes with
 * the older one before. To take out the oldest entry for each new one would have to find it first, behind those taken out.
 */
let recent = new Map<string, Kept>();
let older = recent;

/**
 * What was made of the same words and schema before: tools are often built anew for every conversation, and what a listing
 * says changes once in a while.
 */
export function keptDefinition(listing: DescribedListing): DirectToolDefinition | undefined {
  const kept = recent.get(listing.id) ?? older.get(listing.id);
  if (kept === undefined || !isSame(kept.listing, listing)) return undefined;
  keep(kept);
  return kept.definition;
}

/** Keeps what was made of a listing, unless that is long. */
export function keepDefinition(listing: DescribedListing, definition: DirectToolDefinition): void {
  const { id, title, description, rental_model, price_lamports, input_schema } = listing;
  if (title.length + description.length + roughLength(input_schema, MAX_LENGTH) > MAX_LENGTH) return;
  keep({ listing: { id, title, description, rental_model, price_lamports, input_schema }, definition });
}

function keep(kept: Kept): void {
  const { id } = kept.listing;
  if (recent.get(id) === kept) return;
  if (recent.size >= MAX_ENTRIES / 2) {
    older = recent;
    recent = new Map();
  }
  recent.set(id, kept);
}

function isSame(first: DescribedListing, second: DescribedListing): boolean {
  return (
    first.title === second.title &&
    first.description === second.description &&
    first.rental_model === second.rental_model &&
    first.price_lamports === second.price_lamports &&
    // Last, because it takes longest.
    equal(first.input_schema, second.input_schema)
  );
}
