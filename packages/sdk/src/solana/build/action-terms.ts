import type { TransactionRequest, TransactionRequestOf } from '@agent-rental/contract';

type TermsOf<A extends TransactionRequest['action']> = Omit<TransactionRequestOf<A>, 'action' | 'listing_id'>;

/** Terms of a rental; absent ones are the listing's. */
export type RentTerms = TermsOf<'rent'>;

/** Which window a subscription is extended by, and at what price. */
export type RenewTerms = TermsOf<'renew'>;

/** The addition to a prepaid balance, and the accepted price per task. */
export type TopUpTerms = TermsOf<'topup'>;

/** Changes of a listing; absent members stay. */
export type ListingChanges = TermsOf<'update'>;

/** How much is withdrawn; all of it when nothing is named. */
export type WithdrawTerms = TermsOf<'withdraw'>;

/** Terms of a listing that was registered without them. */
export type PublishTerms = TermsOf<'publish'>;
