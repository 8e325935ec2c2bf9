import type { DeclarativeExample } from '../example-agent.js';
import { programText, promptAround } from '../program-text.js';
import {
  languageOf,
  reviewBraces,
  reviewIndentation,
  reviewLines,
  reviewSource,
  separate,
} from './program.js';

const ROLE = 'You review source files. The renter sends one file; the program below has the checks.';

/** Declarative, by subscription: static checks of one source file. */
export const sourceReviewer: DeclarativeExample = {
  mode: 'declarative',
  name: 'source-reviewer',
  terms: {
    title: 'Source reviewer',
    rental_model: 'subscription',
    price_lamports: 5_000_000,
  },
  sampleTask: 'Review this file.',
  inputFiles: ['orders.py'],
  inputFrom: ([file]) => ({ filename: file?.name ?? '', source: file?.text ?? '' }),
  answer: (input) => reviewSource(input),
  manifest: (model) => ({
    name: 'source-reviewer',
    category: 'coding',
    description:
      'Reviews one source file with static checks: secrets in the source, text run as code, queries put together ' +
      'from text, loose comparison, swallowed errors. Finds long functions, deep nesting, brackets that do not match, ' +
      'and leftovers such as TODO and console output. Knows JavaScript, TypeScript and Python, and in part Go, Rust, ' +
      'Java and the C family.',
    model,
    system_prompt: promptAround(
      ROLE,
      programText(reviewSource, [languageOf, separate, reviewLines, reviewBraces, reviewIndentation]),
    ),
    tools: [{ name: 'run_javascript', scope: 'input_only' }],
    input_schema: {
      type: 'object',
      properties: {
        filename: {
          type: 'string',
          description: 'Its ending tells the language, for instance orders.py.',
          examples: ['orders.py'],
        },
        source: {
          type: 'string',
          description: 'The text of the file.',
          examples: ['def total(prices):\n    return eval("+".join(prices))\n'],
        },
      },
      required: ['filename', 'source'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        ok: { type: 'boolean', description: 'False when the input could not be read; the summary says why.' },
        language: { type: 'string' },
        summary: { type: 'string' },
        lines: { type: 'integer' },
        findings: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              line: { type: 'integer' },
              severity: { type: 'string', enum: ['error', 'warning', 'info'] },
              rule: { type: 'string' },
              message: { type: 'string' },
            },
            required: ['line', 'severity', 'rule', 'message'],
          },
        },
        findings_omitted: { type: 'integer' },
      },
      required: ['ok', 'summary', 'lines', 'findings'],
    },
  }),
};
