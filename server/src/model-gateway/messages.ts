import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { ChatMessage, FinishReason } from '@agent-rental/agent-runner';

/** The runner's conversation, after the system prompt, in the form that the vendors' packages take. */
export function toPrompt(systemPrompt: string, messages: ChatMessage[]): LanguageModelV3Prompt {
  const toolNames = new Map<string, string>();
  const conversation = messages.map((message): LanguageModelV3Message => {
    if (message.role === 'user') {
      return { role: 'user', content: [{ type: 'text', text: message.content }] };
    }
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
  return [{ role: 'system', content: systemPrompt }, ...conversation];
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
