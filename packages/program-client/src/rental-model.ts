/** How a listing is rented, by the values that the API and the chain use. */
export type RentalModel = 'one_time' | 'subscription' | 'per_query';

/** Whether a listing is on offer. */
export type ListingStatus = 'active' | 'paused' | 'closed' | 'suspended';
