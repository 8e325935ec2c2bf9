import type { Credential, JsonObject, Listing } from '@agent-rental/contract';
import type { CompiledInput } from '../schema/compile-input.js';

/** The fields of a listing that a definition uses. */
export type DescribedListing = Pick<
  Listing,
  | 'id'
  | 'title'
  | 'description'
  | 'rental_model'
  | 'price_lamports'
  | 'input_schema'
  | 'failing_since'
  | 'icon_path'
>;

/** A rental's direct tool without a client; the same for every caller. */
export interface DirectToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly agentId: string;
  /** Path of the creator's picture at the marketplace. */
  readonly iconPath?: string;
  /** The price per call in lamports; absent if the listing could not be fetched. */
  readonly priceLamports?: number;
  readonly input: CompiledInput;
}

/** A rented listing; only the facts of the credential if the listing could not be fetched. */
export type RentedListing =
  | DescribedListing
  | Pick<Credential, 'listing_id' | 'listing_title' | 'rental_model' | 'icon_path'>;
