import type { DescribedListing, DirectToolDefinition } from './direct-tool-definition.js';

/** How much is kept: some megabytes, whatever creators write. */
const MAX_ENTRIES = 2_000;
const MAX_LENGTH = 4_000;

interface Kept {
  readonly listing: Omit<DescribedListing, 'input_schema'>;
  /** As JSON. */
  readonly inputSchema: string;
  readonly definition: DirectToolDefinition;
}

/**
 * By id, in halves: when the one in use is full, it becomes the older one, and what was not asked for since goes with
 * the older one before. To take out the oldest entry for each new one would have to find it first, behind those taken out.
 */
let recent = new Map<string, Kept>();
let older = recent;

/**
 * What is made of a listing, once of the same words and schema: tools are often built anew for every conversation, and
 * what a listing says changes once in a while. What is made of a long listing is not kept.
 */
export async function memoised(
  { input_schema, ...listing }: DescribedListing,
  make: () => Promise<DirectToolDefinition>,
): Promise<DirectToolDefinition> {
  const inputSchema = JSON.stringify(input_schema);
  const known = recent.get(listing.id) ?? older.get(listing.id);
  const isKnown = known !== undefined && known.inputSchema === inputSchema && isSame(known.listing, listing);
  const { id, title, description, rental_model, price_lamports } = listing;
  const kept = isKnown
    ? known
    : {
        listing: { id, title, description, rental_model, price_lamports },
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
    first.price_lamports === second.price_lamports
  );
}
