/**
 * Names the conversation that a tool call belongs to. Models number their calls anew in every conversation, and
 * the AI SDK has no name for one; but each step of each `generateText` or `streamText` call hands its tools one
 * list of messages, so that the list itself tells steps and conversations apart.
 *
 * @param scope the caller's own name of the conversation, which wins.
 */
export function callScope(scope: string | undefined): (messages: readonly unknown[] | undefined) => string {
  if (scope !== undefined) return () => scope;
  const names = new WeakMap<readonly unknown[], string>();
  return (messages) => {
    // A tool that is called by hand may have no messages.
    if (messages === undefined) return crypto.randomUUID();
    const known = names.get(messages) ?? crypto.randomUUID();
    names.set(messages, known);
    return known;
  };
}
