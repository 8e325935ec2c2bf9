import type { DescribedListing, DirectToolDefinition } from './direct-tool-definition.js';

/** Bounds of the cache: some megabytes, for listings of any length. */
const MAX_ENTRIES = 2_000;
const MAX_LENGTH = 4_000;

interface Kept {
  readonly listing: Omit<DescribedListing, 'input_schema'>;
  /** As JSON. */
  readonly inputSchema: string;
  readonly definition: DirectToolDefinition;
}

/**
 * Two generations of entries, by listing id. A full recent generation becomes the older one, and the unused entries of the
 * older one are dropped. An eviction of single entries would be slow: it searches behind deleted entries of the map.
 */
let recent = new Map<string, Kept>();
let older = recent;

/**
 * Returns the definition of a listing's tool, memoised by the content of the listing. Tools are often built again for every
 * conversation, but listings change rarely. Definitions of long listings are not memoised.
 *
 * @param make called if no definition of this content is memoised
 */
export async function memoised(
  { input_schema, ...listing }: DescribedListing,
  make: () => Promise<DirectToolDefinition>,
): Promise<DirectToolDefinition> {
  const inputSchema = JSON.stringify(input_schema);
  const known = recent.get(listing.id) ?? older.get(listing.id);
  const isKnown = known !== undefined && known.inputSchema === inputSchema && isSame(known.listing, listing);
  const { id, title, description, rental_model, price_lamports, failing_since } = listing;
  const kept = isKnown
    ? known
    : {
        listing: { id, title, description, rental_model, price_lamports, failing_since },
        inputSchema,
        definition: await make(),
      };
  if (title.length + description.length + inputSchema.length <= MAX_LENGTH) keep(kept);
  return kept.definition;
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

function isSame(first: Kept['listing'], second: Kept['listing']): boolean {
  return (
    first.title === second.title &&
    first.description === second.description &&
    first.rental_model === second.rental_model &&
    first.price_lamports === second.price_lamports &&
    first.failing_since === second.failing_since
  );
}
