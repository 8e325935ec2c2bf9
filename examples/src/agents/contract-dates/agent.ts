import { serveAgent, type ServedAgent } from '@agent-rental/sdk/creator';
import type { ConnectedExample } from '../example-agent.js';
import { readContract } from './extract.js';

const foundIn = {
  line: { type: 'integer', description: 'Line of the text on which the sentence begins.' },
  text: { type: 'string' },
  sentence: { type: 'string' },
};

/** Connected, paid once: dates, deadlines and duties of a contract, read on the creator's own machine. */
export const contractDates: ConnectedExample = {
  mode: 'connected',
  name: 'contract-dates',
  terms: {
    title: 'Contract dates and duties',
    rental_model: 'one_time',
    price_lamports: 20_000_000,
  },
  sampleTask: 'List the dates, deadlines and duties of this contract.',
  inputFiles: ['services-agreement.txt'],
  inputFrom: ([contract]) => ({ text: contract?.text ?? '' }),
  answer: (input) => readContract(input),
  manifest: (entrypointUrl) => ({
    name: 'contract-dates',
    category: 'legal',
    description:
      'Reads a contract in English and lists its dates, its deadlines and periods, and its duties and ' +
      'prohibitions with their party, each with its line. It goes by wording: every listed item is in ' +
      'the text, and unusual wording may be missing.',
    model: { provider: 'self_hosted', endpoint_url: entrypointUrl },
    entrypoint_url: entrypointUrl,
    timeout_seconds: 30,
    input_schema: {
      anyOf: [
        {
          type: 'object',
          properties: {
            text: {
              type: 'string',
              description: 'The text of the contract.',
              examples: [
                'The supplier shall deliver the goods by 31 March 2027. Either party may end it with 30 days’ notice.',
              ],
            },
          },
          required: ['text'],
          additionalProperties: false,
        },
        { type: 'string', description: 'The text of the contract.' },
      ],
    },
    output_schema: {
      type: 'object',
      properties: {
        ok: { type: 'boolean', description: 'False when the input could not be read; the summary says why.' },
        summary: { type: 'string' },
        parties: { type: 'array', items: { type: 'string' } },
        dates: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              ...foundIn,
              iso: {
                anyOf: [{ type: 'string' }, { type: 'null' }],
                description: 'Null where it is ambiguous.',
              },
            },
            required: ['line', 'text', 'iso', 'sentence'],
          },
        },
        deadlines: {
          type: 'array',
          items: {
            type: 'object',
            properties: { ...foundIn, amount: { type: 'integer' }, unit: { type: 'string' } },
            required: ['line', 'text', 'amount', 'unit', 'sentence'],
          },
        },
        duties: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              line: foundIn.line,
              party: { anyOf: [{ type: 'string' }, { type: 'null' }] },
              prohibited: { type: 'boolean' },
              duty: { type: 'string' },
            },
            required: ['line', 'party', 'prohibited', 'duty'],
          },
        },
        omitted: { type: 'integer' },
      },
      required: ['ok', 'summary', 'parties', 'dates', 'deadlines', 'duties'],
    },
  }),
};

/** Serves the agent on this machine; `webhookSecret` came with the answer to its registration. */
export function serveContractDates(options: {
  port: number;
  webhookSecret: string;
  onError?: (error: unknown) => void;
}): Promise<ServedAgent> {
  return serveAgent({ ...options, run: ({ input }) => JSON.parse(JSON.stringify(readContract(input))) });
}
