/**
 * Numbers that users are told. Texts, queries and tests take them from here, so that no text promises what the service
 * does not do.
 */

/** Hours for which the result of a run is kept. */
export const RESULT_KEPT_HOURS = 24;

/** Hours for which a file is kept. */
export const FILE_KEPT_HOURS = 24;

/** Hours over which a spending policy adds up what was spent. */
export const SPENDING_WINDOW_HOURS = 24;

/** Minutes after its last caller left in which an equal request adopts a run instead of paying for another one. */
export const ADOPTION_MINUTES = 10;

/** Runs for samples that the agents of one wallet may cause in 24 hours. */
export const SAMPLE_RUNS_PER_DAY = 20;

/** Seconds for which a caller waits for the confirmation of a charge. */
export const CHARGE_WAIT_SECONDS = 45;

/** Seconds for which a tool call waits for the end of its run; after them it answers with the run's id. */
export const TOOL_WAIT_SECONDS = 45;

/** Credits that a wallet may be given in 24 hours for runs of one listing that were charged and not delivered. */
export const CREDITS_PER_DAY = 5;

/** Minutes after an agent's last answer in which a run of it is charged at its start; later, once it has answered. */
export const AGENT_CONTACT_MINUTES = 10;

/** How many of a wallet's rentals or runs are looked at to count a list: the `total` of a shorter list is exact. */
export const COUNTED_FOR_TOTAL = { rentals: 200, runs: 1_000 } as const;
