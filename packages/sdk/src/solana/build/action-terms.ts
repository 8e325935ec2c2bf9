import type { TransactionRequest, TransactionRequestOf } from '@agent-rental/contract';

type TermsOf<A extends TransactionRequest['action']> = Omit<TransactionRequestOf<A>, 'action' | 'listing_id'>;

/** Terms of a rental; what is absent is the listing's own. */
export type RentTerms = TermsOf<'rent'>;

/** Which window a subscription is extended by, and at what price. */
export type RenewTerms = TermsOf<'renew'>;

/** What is added to a prepaid balance, and the price per task that is accepted. */
export type TopUpTerms = TermsOf<'topup'>;

/** What changes about a listing; what is absent stays. */
export type ListingChanges = TermsOf<'update'>;

/** How much is withdrawn; all of it when nothing is named. */
export type WithdrawTerms = TermsOf<'withdraw'>;

/** Terms of a listing that was registered without them. */
export type PublishTerms = TermsOf<'publish'>;
