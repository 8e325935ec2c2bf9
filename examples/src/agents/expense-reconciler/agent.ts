import type { DeclarativeExample } from '../example-agent.js';
import { programText, promptAround } from '../program-text.js';
import {
  checkReceipts,
  findColumns,
  matchStatement,
  parseCsv,
  readAmount,
  readDay,
  readTable,
  reconcileExpenses,
  writeAmount,
} from './program.js';

const ROLE =
  'You reconcile expenses. The renter sends an expenses table as CSV and may send the statement of the card or ' +
  'account that paid.';

/** Declarative, paid per task: adds up expenses and lists mismatches. */
export const expenseReconciler: DeclarativeExample = {
  mode: 'declarative',
  name: 'expense-reconciler',
  terms: {
    title: 'Expense reconciler',
    rental_model: 'per_query',
    price_lamports: 250_000,
    min_deposit_lamports: 2_500_000,
  },
  sampleTask: 'Reconcile these expenses with the card statement.',
  inputFiles: ['expenses.csv', 'card-statement.csv'],
  inputFrom: ([expenses, statement]) => ({
    csv: expenses?.text ?? '',
    ...(statement && { statement_csv: statement.text }),
  }),
  answer: (input) => reconcileExpenses(input),
  manifest: (model) => ({
    name: 'expense-reconciler',
    category: 'finance',
    description:
      'Reads an expenses CSV and adds it up to the cent, by currency and category. Finds duplicates, receipts ' +
      'that are missing or used twice, and wrong totals. Finds lines where net and tax or quantity and price do ' +
      'not give the amount. With a bank or card statement beside it, finds entries on one side only.',
    model,
    system_prompt: promptAround(
      ROLE,
      programText(reconcileExpenses, [
        parseCsv,
        findColumns,
        readAmount,
        writeAmount,
        readDay,
        readTable,
        checkReceipts,
        matchStatement,
      ]),
    ),
    tools: [{ name: 'run_javascript', scope: 'input_only' }],
    input_schema: {
      type: 'object',
      properties: {
        csv: {
          type: 'string',
          description:
            'The expenses as CSV text: a header line, then one line per expense. An amount column is needed; ' +
            'date, merchant, category, currency, receipt, net, tax, quantity and unit price are used if present.',
          examples: [
            'date,merchant,category,amount,currency\n2026-01-05,Rail,Travel,49.00,EUR\n2026-01-05,Rail,Travel,49.00,EUR',
          ],
        },
        statement_csv: {
          type: 'string',
          description:
            'The bank or card statement as CSV text: date, description, amount or debit and credit.',
          examples: ['date,description,amount\n2026-01-06,Rail,-49.00'],
        },
      },
      required: ['csv'],
      additionalProperties: false,
    },
    output_schema: {
      type: 'object',
      properties: {
        ok: { type: 'boolean', description: 'False when the input could not be read; the summary says why.' },
        summary: { type: 'string' },
        lines_counted: { type: 'integer' },
        totals: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              currency: { type: 'string' },
              category: { type: 'string' },
              count: { type: 'integer' },
              total: { type: 'string', description: 'Exact decimal number.' },
            },
            required: ['currency', 'category', 'count', 'total'],
          },
        },
        totals_omitted: { type: 'integer' },
        findings: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              kind: { type: 'string' },
              table: { type: 'string', enum: ['expenses', 'statement'] },
              lines: { type: 'array', items: { type: 'integer' }, description: "The header's line is 1." },
              message: { type: 'string' },
            },
            required: ['kind', 'table', 'lines', 'message'],
          },
        },
        findings_omitted: { type: 'integer' },
      },
      required: ['ok', 'summary', 'lines_counted', 'totals', 'findings'],
    },
  }),
};
