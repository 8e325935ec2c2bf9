import type { ChatMessage, FinishReason } from '@agent-rental/agent-runner';
import type { ModelMessage } from 'ai';

/** The runner's conversation in the form that the AI SDK takes. */
export function toModelMessages(messages: ChatMessage[]): ModelMessage[] {
  const toolNames = new Map<string, string>();
  return messages.map((message): ModelMessage => {
    if (message.role === 'user') return { role: 'user', content: message.content };
    if (message.role === 'tool') {
      const toolName = toolNames.get(message.toolCallId) ?? 'unknown';
      const output = { type: 'text' as const, value: message.content };
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: message.toolCallId, toolName, output }],
      };
    }
    for (const call of message.toolCalls ?? []) toolNames.set(call.id, call.name);
    return {
      role: 'assistant',
      content: [
        ...(message.content ? [{ type: 'text' as const, text: message.content }] : []),
        ...(message.toolCalls ?? []).map((call) => ({
          type: 'tool-call' as const,
          toolCallId: call.id,
          toolName: call.name,
          input: parsedArguments(call.arguments),
        })),
      ],
    };
  });
}

/** A model may write arguments that are not JSON; they go back to it as they were. */
function parsedArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { invalid_arguments: text };
  }
}

/** Why the model stopped, in the runner's words. */
export function toFinishReason(reason: string): FinishReason {
  switch (reason) {
    case 'stop':
    case 'length':
      return reason;
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    default:
      return 'other';
  }
}
