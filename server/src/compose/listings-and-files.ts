import {
  createCredentialRepository,
  createCredentialService,
  createIndexer,
  createRentalList,
} from '../credentials/index.js';
import { createFileRepository, createFileService } from '../files/index.js';
import {
  createListingRepository,
  createListingService,
  createPins,
  createRentedVersions,
} from '../listings/index.js';
import { createOwnCharges } from '../settlement/index.js';
import type { AppParts } from './app-parts.js';
import type { Content } from './content.js';

/** The slices that runs read: listings, credentials with their indexer, and files. */
export type ListingsAndFiles = ReturnType<typeof composeListingsAndFiles>;

/** Composes listings, credentials, and the files of tasks. */
export function composeListingsAndFiles(parts: AppParts, content: Content) {
  const { logger, database, chain, keys } = parts;
  const listings = createListingService(createListingRepository(database));
  const repository = createCredentialRepository(database.db);
  const indexer = createIndexer(chain, repository, logger, parts.indexPollMs, {
    history: parts.history,
    ownCharges: createOwnCharges(database.db, chain.programId),
  });
  const rentals = createRentalList(database.db);
  const pins = createPins(database.db);
  const rentedVersions = createRentedVersions(database.db);
  const credentials = createCredentialService({
    repository,
    rentals,
    listings,
    chain,
    indexer,
    pins,
    rentedVersions,
  });
  const files = createFileService({
    files: createFileRepository(database.db, keys),
    credentials,
    content: content.reader,
  });
  return { listings, pins, credentials, indexer, files };
}
