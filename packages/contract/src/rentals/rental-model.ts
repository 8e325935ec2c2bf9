/**
 * The rental models and their differences. Types, schemas and tables follow from this list. Code that depends on a model
 * asks this table, or switches over all models.
 */
export const RENTAL_TERMS = {
  /** Paid once, used for ever. */
  one_time: { chargesRuns: false, isPrepaid: false, expires: false, isSoldByCall: false },
  /** Paid per window of days. */
  subscription: { chargesRuns: false, isPrepaid: false, expires: true, isSoldByCall: false },
  /** Paid per run, from a prepaid balance. */
  per_query: { chargesRuns: true, isPrepaid: true, expires: false, isSoldByCall: true },
} as const satisfies Readonly<
  Record<
    string,
    {
      /** Each run is charged at the listing's price. */
      readonly chargesRuns: boolean;
      /** Runs are paid out of a deposit, which the listing may bound from below. */
      readonly isPrepaid: boolean;
      /** The access ends at a time, and is renewed. */
      readonly expires: boolean;
      /** A call without an account may be paid for alone, which buys a rental for it. */
      readonly isSoldByCall: boolean;
    }
  >
>;

/** How a listing is paid for: once, per window of days, or per task from a prepaid balance. */
export type RentalModel = keyof typeof RENTAL_TERMS;

/** All rental models. */
export const RENTAL_MODELS = Object.keys(RENTAL_TERMS) as [RentalModel, ...RentalModel[]];
