import type { ToolRunnableConfig } from '@langchain/core/tools';

/**
 * Names the scope in which a tool call's id is unique. Models repeat call ids in different conversations, and a graph may run
 * without a `thread_id`. The graph's name of the running task (`checkpoint_ns`) differs between its runs. It stays the same
 * when a graph resumes from a checkpoint.
 *
 * @param scope the caller's name of the conversation, for graphs without a `thread_id`.
 */
export function callScope(scope: string | undefined): (config: ToolRunnableConfig) => string {
  const fallback = crypto.randomUUID();
  return ({ configurable }) => {
    const named = [scope, configurable?.['thread_id'], configurable?.['checkpoint_ns']];
    return named.filter((part) => typeof part === 'string' && part !== '').join('/') || fallback;
  };
}
