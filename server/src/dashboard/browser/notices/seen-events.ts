/** Where the browser keeps the place after the last event that a wallet has seen. */
const itemOf = (wallet: string) => `agent-rental-seen-events:${wallet}`;

/** The place after the last event that was seen; undefined before the first visit. */
export function readSeen(wallet: string): string | undefined {
  try {
    const kept = localStorage.getItem(itemOf(wallet));
    return kept !== null && /^\d{1,18}$/.test(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Notes that the events before a place were seen. */
export function keepSeen(wallet: string, cursor: string): void {
  try {
    localStorage.setItem(itemOf(wallet), cursor);
  } catch {
    // The bell goes on counting.
  }
}
