import type * as Ai from 'ai';
import type { MockLanguageModelV3 } from 'ai/test';

/** One version of the AI SDK in a test. */
export interface AiVersion {
  readonly ai: typeof Ai;
  /** The mock model of that version. */
  readonly Model: typeof MockLanguageModelV3;
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const CALLS = { unified: 'tool-calls' as const, raw: undefined };
const STOPS = { unified: 'stop' as const, raw: undefined };

/** A model that calls a tool, then says `Done.`, in turn. It records its prompts. */
export function callingModel(
  { ai, Model }: AiVersion,
  args: unknown,
  toolName = 'echo_aaaaaa',
): MockLanguageModelV3 {
  const input = typeof args === 'string' ? args : JSON.stringify(args);
  const call = { type: 'tool-call' as const, toolCallId: 'call_1', toolName, input };
  const streamOf = (chunks: object[]) => ({ stream: ai.simulateReadableStream({ chunks }) as never });
  let turn = 0;
  const calls = () => turn++ % 2 === 0;
  return new Model({
    doGenerate: async () =>
      calls()
        ? { content: [call], finishReason: CALLS, usage, warnings: [] }
        : { content: [{ type: 'text', text: 'Done.' }], finishReason: STOPS, usage, warnings: [] },
    doStream: async () =>
      calls()
        ? streamOf([
            { type: 'stream-start', warnings: [] },
            call,
            { type: 'finish', finishReason: CALLS, usage },
          ])
        : streamOf([
            { type: 'stream-start', warnings: [] },
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'Done.' },
            { type: 'text-end', id: 't' },
            { type: 'finish', finishReason: STOPS, usage },
          ]),
  });
}

/** The tool's result in the model's last prompt. */
export function seenByModel(model: MockLanguageModelV3): unknown {
  const prompt = (model.doGenerateCalls.at(-1) ?? model.doStreamCalls.at(-1))?.prompt ?? [];
  const [part] = prompt.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return part?.type === 'tool-result' ? part.output : undefined;
}
