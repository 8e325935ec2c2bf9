import type { DescribedListing, DirectToolDefinition } from './direct-tool-definition.js';

/** Bounds of the memory: some megabytes, for listings of any length. */
const MAX_ENTRIES = 2_000;
const MAX_LENGTH = 4_000;

interface Kept {
  readonly listing: Omit<DescribedListing, 'input_schema'>;
  /** As JSON. */
  readonly inputSchema: string;
  readonly definition: DirectToolDefinition;
}

/**
 * Two generations, by listing id: when the recent one is full it becomes the older one, and the entries of the older one
 * that were not used since are dropped. Evicting the oldest entry for each new one would have to search for it behind
 * deleted entries of the map.
 */
let recent = new Map<string, Kept>();
let older = recent;

/**
 * Returns the definition of a listing's tool, memoised by the content of the listing: tools are often built anew for every
 * conversation, and listings change rarely. Definitions of long listings are not memoised.
 *
 * @param make called where no definition of this content is memoised
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
