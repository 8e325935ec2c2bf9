import { randomUUID } from 'node:crypto';
import type { PublishedListing } from '../listings/index.js';
import { newTestListingId, newWallet } from './rows.js';

/** A published listing as the slices hand it around. It is in no database. */
export function publishedListing(
  version: Partial<PublishedListing['version']> = {},
  fields: Partial<PublishedListing> = {},
): PublishedListing {
  return {
    id: newTestListingId(),
    title: 'Test agent',
    creator: newWallet(),
    address: newWallet(),
    rentalModel: 'one_time',
    priceLamports: 1000n,
    minDepositLamports: 0n,
    runsPerMinute: null,
    status: 'active',
    freeTrial: null,
    metadataUri: 'ipfs://test',
    version: {
      id: randomUUID(),
      number: 1,
      inputSchema: {},
      outputSchema: {},
      timeoutSeconds: 60,
      privatePart: Buffer.alloc(0),
      ...version,
    },
    ...fields,
  };
}
