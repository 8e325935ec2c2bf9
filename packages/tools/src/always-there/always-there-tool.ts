import type { AlwaysThereToolName } from '@agent-rental/contract';
import { resultOfBadArguments } from '../definitions/error-result.js';
import { defineTool, type RentedTool } from '../definitions/rented-tool.js';
import { checkArguments } from '../runs/check-arguments.js';
import { argumentsObject, BadArgumentsError } from '../runs/run-arguments.js';

/** The definition of a tool that needs no rental, as {@link defineTool} takes it. */
type AlwaysThereDefinition = Parameters<typeof defineTool>[0] & { readonly name: AlwaysThereToolName };

/** Completes a tool that needs no rental: refuses unknown arguments before the tool runs or asks for an approval. */
export function alwaysThereTool(definition: AlwaysThereDefinition): RentedTool {
  const { approvalOf, stream } = definition;
  const refusalOf = (args: unknown): string | undefined => {
    try {
      checkArguments(definition, argumentsObject(args));
      return undefined;
    } catch (error) {
      if (error instanceof BadArgumentsError) return error.message;
      throw error;
    }
  };
  return defineTool({
    ...definition,
    ...(approvalOf && {
      approvalOf: async (args, options) =>
        refusalOf(args) === undefined ? approvalOf(args, options) : undefined,
    }),
    stream: async function* (args, options) {
      const refusal = refusalOf(args);
      return refusal === undefined ? yield* stream(args, options) : resultOfBadArguments(refusal);
    },
  });
}
