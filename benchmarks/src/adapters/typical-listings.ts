import type { JsonObject } from '@agent-rental/contract';

/** The parts of a listing that a model gets. */
export interface TypicalListing {
  readonly title: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

const text = (description: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  description,
  ...more,
});

/** Typical listings: a title, two or three sentences, and an input of some fields. */
export const TYPICAL_LISTINGS: readonly TypicalListing[] = [
  {
    title: 'Expense report analyst',
    description:
      'Reads the lines of an expense report, groups them by category and flags what breaks the travel policy. ' +
      'Answers with totals per category and one line for each doubtful item.',
    input_schema: {
      type: 'object',
      properties: {
        report: text('The report as CSV, with a header line.'),
        currency: text('ISO 4217 code of the totals.', { pattern: '^[A-Z]{3}$' }),
        policy_limit: { type: 'number', minimum: 0, description: 'Most for one meal.' },
      },
      required: ['report'],
      additionalProperties: false,
    },
  },
  {
    title: 'Contract clause reviewer',
    description:
      'Compares the clauses of a supply contract with a list of standard positions. For every clause it says whether ' +
      'it deviates, how much that matters, and proposes a wording that would be acceptable.',
    input_schema: {
      type: 'object',
      properties: {
        contract: text('The whole contract, as text.'),
        side: { type: 'string', enum: ['buyer', 'seller'], description: 'For whom it is reviewed.' },
        clauses: { type: 'array', items: { type: 'string' }, maxItems: 50 },
      },
      required: ['contract', 'side'],
    },
  },
  {
    title: 'Source code reviewer',
    description:
      'Reviews a change to TypeScript or Rust code: correctness first, then error handling and tests. Gives findings ' +
      'with file, line and severity, the worst first, and says nothing about style that a formatter settles.',
    input_schema: {
      type: 'object',
      properties: {
        diff: text('The change in the unified format.'),
        language: { type: 'string', enum: ['typescript', 'rust'] },
        max_findings: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      required: ['diff'],
    },
  },
  {
    title: 'Market researcher',
    description:
      'Collects public information about a product category: its vendors, their prices, and the complaints of their ' +
      'customers. Every statement comes with the address of its source.',
    input_schema: {
      type: 'object',
      properties: {
        category: text('For instance: electric cargo bikes.'),
        countries: { type: 'array', items: text('ISO 3166 code.') },
        since: text('First day that counts.', { format: 'date' }),
      },
      required: ['category'],
    },
  },
  {
    title: 'Meeting summariser',
    description:
      'Turns the transcript of a meeting into a summary of one page: decisions, open questions, and who does what until ' +
      'when. Adds no information to the transcript.',
    input_schema: { type: 'string', description: 'The transcript.' },
  },
  {
    title: 'Address cleaner',
    description:
      'Splits postal addresses into their parts, corrects spelling against the official registers of twelve countries, ' +
      'and marks unknown addresses.',
    input_schema: {
      type: 'object',
      properties: {
        addresses: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, lines: text('The address, line by line.') },
            required: ['lines'],
          },
        },
      },
      required: ['addresses'],
    },
  },
];
