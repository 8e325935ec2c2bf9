import { describe, expect, it } from 'vitest';
import { sampleInput } from '../example-agent.js';
import { contractDates } from './agent.js';
import { readContract } from './extract.js';
import { splitSentences } from './sentences.js';

const dates = (text: string) => readContract(text).dates.map(({ text: written, iso }) => [written, iso]);
const deadlines = (text: string) =>
  readContract(text).deadlines.map(({ amount, unit }) => `${amount} ${unit}`);
const duties = (text: string) =>
  readContract(text).duties.map(({ party, prohibited, duty }) => [party, prohibited, duty]);

describe('splitSentences', () => {
  it('splits at full stops, semicolons, blank lines and clauses, and joins wrapped lines', () => {
    const text = 'One is\nhere. Two; Three\r\n\r\nFour\n1.2 Five\n(a) Six';
    expect(splitSentences(text)).toEqual([
      { line: 1, text: 'One is here.' },
      { line: 2, text: 'Two;' },
      { line: 2, text: 'Three' },
      { line: 4, text: 'Four' },
      { line: 5, text: '1.2 Five' },
      { line: 6, text: '(a) Six' },
    ]);
  });

  it.each([
    'Acme Inc. (the "Buyer") pays.',
    'See No. 5 of it.',
    'J. Smith signs.',
    'Pays 3.5 percent, e.g. Fees.',
  ])('keeps together: %s', (text) => expect(splitSentences(text)).toEqual([{ line: 1, text }]));
});

describe('dates', () => {
  it.each([
    ['2025-01-31', '2025-01-31'],
    ['31 January 2025', '2025-01-31'],
    ['1st day of March 2025', '2025-03-01'],
    ['January 31, 2025', '2025-01-31'],
    ['Sept. 3rd, 2025', '2025-09-03'],
    ['31/01/2025', '2025-01-31'],
    ['01/31/2025', '2025-01-31'],
    ['03.04.2025', '2025-04-03'],
    ['03/04/2025', null],
    ['31 June 2025', null],
  ])('reads %s as %s', (written, iso) =>
    expect(dates(`Due on ${written} at noon`)).toEqual([[written, iso]]),
  );

  it.each(['In 2025', 'Section 12.3.2025.1', '1/2/3', 'It may 5 times'])('reads none in %s', (text) =>
    expect(dates(text)).toEqual([]),
  );
});

describe('deadlines', () => {
  it.each([
    ['pay within thirty (30) days after receipt', ['30 day']],
    ["at least 60 days' prior written notice", ['60 day']],
    ['no later than ten Business Days before delivery', ['10 business day']],
    ['for a period of twenty-four months', ['24 month']],
    ['every 6 weeks and after 2 years', ['6 week', '2 year']],
    ['in forty-five (45) calendar days', ['45 calendar day']],
  ])('reads %s', (text, expected) => expect(deadlines(text)).toEqual(expected));

  it.each(['every day of the month', 'many years', 'clause 5.12 weeks'])('reads none in %s', (text) =>
    expect(deadlines(text)).toEqual([]),
  );
});

describe('duties', () => {
  it.each([
    ['The Supplier shall deliver.', [['Supplier', false, 'shall deliver.']]],
    ['The Customer must not copy it.', [['Customer', true, 'must not copy it.']]],
    ['The Tenant may not sublet.', [['Tenant', true, 'may not sublet.']]],
    ['Neither party shall assign it.', [['Neither party', true, 'shall assign it.']]],
    ['If the Customer is late, the Supplier shall wait.', [['Supplier', false, 'shall wait.']]],
    ['The Supplier, asked by the Customer, shall stop.', [['Supplier', false, 'shall stop.']]],
    ['Notices shall be in writing.', [[null, false, 'shall be in writing.']]],
    ["The Supplier's liability shall be capped.", [[null, false, 'shall be capped.']]],
    [
      'The Supplier agrees to help and the Customer agrees to pay.',
      [
        ['Supplier', false, 'agrees to help'],
        ['Customer', false, 'agrees to pay.'],
      ],
    ],
    [
      'The Supplier shall build, and must test it.',
      [
        ['Supplier', false, 'shall build'],
        ['Supplier', false, 'must test it.'],
      ],
    ],
    ['"Fee" shall mean the price.', []],
    ['The Supplier delivers.', []],
  ])('reads %s', (text, expected) => expect(duties(text)).toEqual(expected));

  it('knows parties by the names that the contract gives them', () => {
    const reading = readContract(
      'Acme Ltd. (the "Maker") and Beta Inc. (“Shop & Co”), under this deed (the "Agreement"). Shop & Co shall pay the Maker.',
    );
    expect(reading.parties).toEqual(['Maker', 'Shop & Co']);
    expect(reading.duties[0]?.party).toBe('Shop & Co');
  });
});

describe('readContract', () => {
  it('reads the sample agreement', async () => {
    const reading = contractDates.answer(await sampleInput(contractDates));
    expect(reading).toMatchObject({
      parties: ['Supplier', 'Customer'],
      dates: [
        { iso: '2025-01-15', line: 3 },
        { iso: '2025-02-01', line: 7 },
        { iso: '2025-02-28', line: 18 },
        { iso: null, text: '03/04/2025', line: 18 },
      ],
    });
  });

  it.each([undefined, '', '   \n', {}, { text: 5 }, []])('asks for the text when given %j', (input) => {
    expect(readContract(input)).toMatchObject({
      ok: false,
      summary: expect.stringContaining('Send the text'),
    });
  });

  it('bounds its answer and its work on a text that is one long sentence', () => {
    const reading = readContract('the Supplier shall pay 5 days (30, '.repeat(20_000));
    expect(reading.duties).toHaveLength(200);
    expect(reading.omitted).toBeGreaterThan(10_000);
    expect(readContract('shall '.repeat(50_000)).ok).toBe(true);
    expect(readContract(`(the "${'A '.repeat(100_000)}`).ok).toBe(true);
    expect(readContract('thirty '.repeat(50_000)).ok).toBe(true);
    expect(readContract(' '.repeat(300_000) + 'x').ok).toBe(true);
  });
});
