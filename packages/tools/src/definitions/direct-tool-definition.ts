import type { Credential, JsonObject, Listing } from '@agent-rental/contract';
import type { CompiledInput } from '../schema/compile-input.js';

/** Everything that a definition is made of. */
export type DescribedListing = Pick<
  Listing,
  'id' | 'title' | 'description' | 'rental_model' | 'price_lamports' | 'input_schema' | 'failing_since'
>;

/** A rental's direct tool, without the client that will call it; the same for every caller. */
export interface DirectToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly agentId: string;
  /** What each call charges, in lamports; absent where the listing could not be fetched. */
  readonly priceLamports?: number;
  readonly input: CompiledInput;
}

/** A rented listing; of one that could not be fetched, only the facts of the credential. */
export type RentedListing =
  | DescribedListing
  | Pick<Credential, 'listing_id' | 'listing_title' | 'rental_model'>;
