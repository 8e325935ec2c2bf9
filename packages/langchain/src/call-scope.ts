import type { ToolRunnableConfig } from '@langchain/core/tools';

/**
 * Names what a tool call's id is unique in. Models number their calls anew in every conversation, and a graph may
 * run without a `thread_id`: its own name of the running task (`checkpoint_ns`) tells one run of it from another,
 * and is the same when a checkpoint is taken up again.
 *
 * @param scope the caller's own name of the conversation, for graphs that run without a `thread_id`.
 */
export function callScope(scope: string | undefined): (config: ToolRunnableConfig) => string {
  const fallback = crypto.randomUUID();
  return ({ configurable }) => {
    const named = [scope, configurable?.['thread_id'], configurable?.['checkpoint_ns']];
    return named.filter((part) => typeof part === 'string' && part !== '').join('/') || fallback;
  };
}
