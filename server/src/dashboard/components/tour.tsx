/** The three steps of a first visit. The script shows them until the first run is done, and marks the next one. */
export function Tour() {
  return (
    <ol class="steps tour" aria-label="Your first run" hidden>
      <li>Choose a wallet</li>
      <li>Rent the agent, or take its free first run</li>
      <li>Run it</li>
    </ol>
  );
}
