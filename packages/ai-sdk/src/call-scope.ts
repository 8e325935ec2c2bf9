/**
 * Names the conversation of a tool call. Models repeat call ids in different conversations, and the AI SDK has no name for
 * a conversation. But each step of a `generateText` or `streamText` call gives its tools one list of messages. The list
 * identifies the step and the conversation.
 *
 * @param scope the caller's name of the conversation. It replaces the list.
 */
export function callScope(scope: string | undefined): (messages: readonly unknown[] | undefined) => string {
  if (scope !== undefined) return () => scope;
  const names = new WeakMap<readonly unknown[], string>();
  return (messages) => {
    // A direct call of a tool may have no messages.
    if (messages === undefined) return crypto.randomUUID();
    const known = names.get(messages) ?? crypto.randomUUID();
    names.set(messages, known);
    return known;
  };
}
