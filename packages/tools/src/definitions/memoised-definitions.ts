import type { DescribedListing, DirectToolDefinition } from './direct-tool-definition.js';

/** Bounds of the cache: some megabytes, for listings of any length. */
const MAX_ENTRIES = 2_000;
const MAX_LENGTH = 4_000;

interface Kept {
  /** The listing as JSON. */
  readonly content: string;
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
  listing: DescribedListing,
  make: () => Promise<DirectToolDefinition>,
): Promise<DirectToolDefinition> {
  const { id, title, description, rental_model, price_lamports, failing_since, input_schema, icon_path } =
    listing;
  const told = [title, description, rental_model, price_lamports, failing_since, input_schema, icon_path];
  const content = JSON.stringify(told);
  const known = recent.get(id) ?? older.get(id);
  const kept = known?.content === content ? known : { content, definition: await make() };
  if (content.length <= MAX_LENGTH) keep(id, kept);
  return kept.definition;
}

function keep(id: string, kept: Kept): void {
  if (recent.get(id) === kept) return;
  if (recent.size >= MAX_ENTRIES / 2) {
    older = recent;
    recent = new Map();
  }
  recent.set(id, kept);
}
