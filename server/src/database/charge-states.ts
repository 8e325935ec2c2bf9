/**
 * The states of a charge; the one list of them. The type of the column follows from it. `charge-states.test.ts` compares it
 * with the database, and with every list of states that a statement holds.
 */
export const CHARGE_STATES = {
  /** The price is set aside. */
  reserved: { isOpen: true, isPaid: false },
  /** A transaction is stored, and sent. */
  signed: { isOpen: true, isPaid: false },
  /** A transaction has landed; a fork may still drop it. */
  confirmed: { isOpen: true, isPaid: true },
  /** No fork can drop it any more. */
  finalized: { isOpen: false, isPaid: true },
  /** Taken for good, and made good by a free run. */
  credited: { isOpen: false, isPaid: true },
  /** Never taken. */
  failed: { isOpen: false, isPaid: false },
  /** Confirmed once, and not taken in the end. */
  lost: { isOpen: false, isPaid: false },
} as const satisfies Readonly<
  Record<
    string,
    {
      /** How the charge ends is not known yet. */
      readonly isOpen: boolean;
      /** The chain has taken the price: the output may leave, unless the charge waits for finality. */
      readonly isPaid: boolean;
    }
  >
>;

/** A charge moves forward through these. */
export type ChargeState = keyof typeof CHARGE_STATES;

/** The states of charges whose end is not known yet. */
export const OPEN_CHARGE_STATES = (Object.keys(CHARGE_STATES) as ChargeState[]).filter(
  (state) => CHARGE_STATES[state].isOpen,
);
