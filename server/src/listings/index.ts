export { cleanLine } from './clean-text.js';
export { createCreators } from './creators.js';
export { startFolding } from './fold-counts.js';
export { newListingId, parseListingId } from './listing-id.js';
export { createListingRepository } from './repository.js';
export { createReviews } from './reviews/reviews.js';
export { listingRoutes } from './routes.js';
export { createListingService, type ListingService, type PublishedListing } from './service.js';
export { createOperatorLimits, type OperatorLimits } from './operator-limits.js';
