import type { ListingTerms, Manifest } from '@agent-rental/contract';

/** An agent as the fake keeps it. */
export interface FakeAgent {
  listingId: string;
  creator: string;
  manifest: Manifest;
  terms: ListingTerms;
  modelKey: string | undefined;
  webhookSecret: string | undefined;
  published: boolean;
  polls: number;
}
