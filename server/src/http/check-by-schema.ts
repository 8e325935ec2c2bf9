import type { z } from 'zod';

/** Longest description: issues repeat keys and values of the request. */
const MOST_DESCRIBED_CHARACTERS = 1000;

/** A value by its schema, or its fault, to follow its name. */
export function checkBySchema(schema: z.ZodType, value: unknown): { value: unknown } | { problem: string } {
  let result: z.ZodSafeParseResult<unknown>;
  try {
    result = schema.safeParse(value);
  } catch (error) {
    // Deeper than the stack.
    if (!(error instanceof RangeError)) throw error;
    return { problem: 'is nested too deeply' };
  }
  return result.success
    ? { value: result.data }
    : { problem: `is not valid: ${describeIssues(result.error)}` };
}

/** All issues of a Zod error in one line, each with its path. */
function describeIssues(error: z.ZodError): string {
  const text = error.issues
    .slice(0, 10)
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message))
    .join('; ');
  return text.length <= MOST_DESCRIBED_CHARACTERS ? text : `${text.slice(0, MOST_DESCRIBED_CHARACTERS)}…`;
}
