export { cleanLine, cleanText } from '../platform/clean-text.js';
export { createCreators } from './creators.js';
export { startFolding } from './fold-counts.js';
export { newListingId, parseListingId } from './listing-id.js';
export { createIcons, iconPath, type Icons } from './icons.js';
export { createReadmes, type Readmes } from './readmes.js';
export { createListingRepository } from './repository.js';
export { rankReviews } from './reviews/rank-reviews.js';
export { createReviews } from './reviews/reviews.js';
export { listingRoutes } from './routes.js';
export {
  createListingService,
  type IndexedRental,
  type ListingService,
  type PublishedListing,
} from './service.js';
export { rentedElsewhere } from './rented-elsewhere.js';
export { createListingAddresses, type ListingAddresses } from './search/addresses.js';
export { createOperatorLimits, type OperatorLimits } from './operator-limits.js';
export { createPins, type Pins } from './versions/pins.js';
export { createRentedVersions, type RentedVersions } from './versions/rented-versions.js';
export { createPublicVersions } from './versions/public-versions.js';
export { versionChange } from './versions/version-change.js';
