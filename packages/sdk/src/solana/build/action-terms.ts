import type { TransactionRequest, TransactionRequestOf } from '@agent-rental/contract';

type TermsOf<A extends TransactionRequest['action']> = Omit<TransactionRequestOf<A>, 'action' | 'listing_id'>;

/** Terms of a rental. Default: the listing's terms. */
export type RentTerms = TermsOf<'rent'>;

/** The duration and price of a subscription's renewal. */
export type RenewTerms = TermsOf<'renew'>;

/** The addition to a prepaid balance, and the accepted price per task. */
export type TopUpTerms = TermsOf<'topup'>;

/** Changes of a listing. Absent members stay unchanged. */
export type ListingChanges = TermsOf<'update'>;

/** Whether the listing is suspended from now on. */
export type ModerateTerms = TermsOf<'moderate'>;

/** The amount to withdraw. Default: all earnings. */
export type WithdrawTerms = TermsOf<'withdraw'>;

/** Terms of a listing that was registered without them. */
export type PublishTerms = TermsOf<'publish'>;
