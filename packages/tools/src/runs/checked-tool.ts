import { resultOfBadArguments } from '../definitions/error-result.js';
import { defineTool, type RentedTool } from '../definitions/rented-tool.js';
import { checkArguments } from './check-arguments.js';
import { argumentsObject, BadArgumentsError } from './run-arguments.js';

/** Completes a tool: refuses unknown arguments before the tool runs, or asks a person for an approval. */
export function checkedTool(definition: Parameters<typeof defineTool>[0]): RentedTool {
  const { approvalOf, spending, stream } = defineTool(definition);
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
    spending: async (args, options) =>
      refusalOf(args) === undefined ? spending(args, options) : { kind: 'nothing' },
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
