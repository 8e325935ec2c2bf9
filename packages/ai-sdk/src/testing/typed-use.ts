import type { RentalClient } from '@agent-rental/sdk';
import { generateText, streamText, type LanguageModel, type ToolSet } from 'ai';
import { rentedTools } from '../rented-tools.js';

/** A test of types only: it must compile with both versions of the AI SDK, and never runs. */
export async function typedUse(client: RentalClient, model: LanguageModel): Promise<number[]> {
  const tools = await rentedTools(client);
  const plain: ToolSet = tools;
  streamText({ model, prompt: '', tools: { ...plain, ...tools } });
  const { steps } = await generateText({ model, prompt: '', tools });
  return steps
    .flatMap((step) => step.toolResults)
    .flatMap((result) => {
      if (result.dynamic === true) return [];
      const { output } = result;
      // @ts-expect-error: results are typed, so that a misspelled field does not compile.
      void output.statsu;
      return output.status === 'completed' ? [output.costLamports ?? 0] : [];
    });
}
