import { describe, expect, it } from 'vitest';
import { parseCsv, readAmount, readDay, reconcileExpenses, writeAmount } from './program.js';

const kinds = (input: unknown) => reconcileExpenses(input).findings.map((finding) => finding.kind);
const csv = (...lines: string[]) => lines.join('\n');

describe('parseCsv', () => {
  it('reads quotes, doubled quotes, delimiters and newlines inside quotes', () => {
    expect(parseCsv('a,b\n"x, ""y""\nz",2\n3,4').records).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, cells: ['x, "y"\nz', '2'] },
      { line: 4, cells: ['3', '4'] },
    ]);
  });

  it.each(['\n', '\r\n', '\r'])('counts lines ended by %j', (end) => {
    expect(parseCsv(['a', '"b', 'c"', '', 'd'].join(end)).records.map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  it('drops a byte order mark and takes the delimiter from the header', () => {
    expect(parseCsv('\uFEFFa;b\n1,5;2').records[1]?.cells).toEqual(['1,5', '2']);
    expect(parseCsv('a\tb\n1,5\t2').records[1]?.cells).toEqual(['1,5', '2']);
  });

  it('says where a quote opens that never closes', () => {
    expect(parseCsv('a,b\n1,2\n"x,3\n4,5').unclosed).toBe(3);
  });
});

describe('readAmount', () => {
  it.each([
    ['12', '12.00', ''],
    ['-1,234.50', '-1234.50', ''],
    ['(12.00)', '-12.00', ''],
    ['12.5-', '-12.50', ''],
    ['\u221212', '-12.00', ''],
    ['$1,000,000.01', '1000000.01', 'USD'],
    ['-€12.30', '-12.30', 'EUR'],
    ['GBP 7', '7.00', 'GBP'],
    ['7 GBP', '7.00', 'GBP'],
    ['12,50', '12.50', ''],
    ['1.234,56', '1234.56', ''],
    ["1'234.50", '1234.50', ''],
    ['1\u00A0234,50', '1234.50', ''],
    ['0.0001', '0.0001', ''],
    ['99999999999999999.99', '99999999999999999.99', ''],
  ])('reads %s', (written, expected, currency) => {
    const amount = readAmount(written, false);
    expect(amount && writeAmount(amount.units)).toBe(expected);
    expect(amount?.currency).toBe(currency);
  });

  it.each(['', '-', 'abc', '1.2.3', '12,3456.7', '(12', '1e5', '١٢', '1'.repeat(50), 'NaN', '0x10', '12 %'])(
    'refuses %j',
    (written) => expect(readAmount(written, false)).toBeUndefined(),
  );

  it('reads a comma as the decimal mark where the file is delimited by semicolons', () => {
    expect(readAmount('1,234', true)?.units).toBe(12_340n);
    expect(readAmount('1,234', false)?.units).toBe(12_340_000n);
  });
});

describe('readDay', () => {
  it.each([
    ['2025-03-04', '2025-03-04'],
    ['2025/3/4', '2025-03-04'],
    ['2025-03-04T10:00:00Z', '2025-03-04'],
    ['04.03.2025', '2025-03-04'],
    ['4 March 2025', '2025-03-04'],
    ['29-Feb-2024', '2024-02-29'],
  ])('reads %s', (written, iso) => {
    expect(readDay(written, false)).toBe(Date.parse(iso) / 86_400_000);
  });

  it.each(['', '2025-02-29', '31.04.2025', '2025-13-01', 'soon', '4 Foo 2025'])('refuses %j', (written) =>
    expect(readDay(written, false)).toBeUndefined(),
  );
});

describe('reconcileExpenses', () => {
  it('adds up by currency and category, exactly', () => {
    const input = csv(
      'date,category,amount,currency',
      '2025-01-01,Travel,0.10,EUR',
      '2025-01-02,Travel,0.20,EUR',
      '2025-01-02,Travel,5,USD',
      '2025-01-03,,1.005,EUR',
    );
    expect(reconcileExpenses({ csv: input }).totals).toEqual([
      { currency: 'EUR', category: 'Travel', count: 2, total: '0.30' },
      { currency: 'EUR', category: 'uncategorised', count: 1, total: '1.005' },
      { currency: 'USD', category: 'Travel', count: 1, total: '5.00' },
    ]);
  });

  it('finds the same expense twice, and one receipt behind two expenses', () => {
    const input = csv(
      'date,merchant,amount,receipt',
      '2025-01-01,Café,10,R1',
      '01.01.2025,CAFÉ,10.00,R2',
      '2025-01-03,Taxi,9,r1',
      '2025-01-04,Taxi,9,yes',
      '2025-01-05,Taxi,9,yes',
    );
    const found = reconcileExpenses({ csv: input }).findings;
    expect(found.map(({ kind, lines }) => [kind, lines])).toEqual([
      ['duplicate', [2, 3]],
      ['duplicate_receipt', [2, 4]],
    ]);
  });

  it('finds missing receipts only where there is a receipt column', () => {
    expect(kinds({ csv: 'amount,receipt\n5,\n6,none\n7,A1' })).toEqual([
      'missing_receipt',
      'missing_receipt',
    ]);
    expect(kinds({ csv: 'amount\n5' })).toEqual([]);
  });

  it('checks net and tax, quantity and price, and stated totals', () => {
    expect(kinds({ csv: 'amount,net,vat\n12,10,2\n13,10,2' })).toEqual(['arithmetic_mismatch']);
    expect(kinds({ csv: 'qty,unit price,amount\n3,1.50,4.50\n3,1.50,4.00' })).toEqual([
      'arithmetic_mismatch',
    ]);
    expect(kinds({ csv: 'item,amount\na,5\nb,6\nSubtotal,5\nTotal,11' })).toEqual([]);
    expect(kinds({ csv: 'item,amount\na,5\nb,6\nGrand total:,12' })).toEqual(['total_mismatch']);
    expect(kinds({ csv: 'item,amount\na,EUR 5\nb,$6\nTotal,11' })).toEqual(['mixed_total']);
    expect(kinds({ csv: 'item,amount\na,EUR 5\nb,$6\nTotal,EUR 6' })).toEqual(['total_mismatch']);
  });

  it('does not count lines that it cannot read, and says which', () => {
    const result = reconcileExpenses({ csv: 'item,amount\na,5\nb\nc,six\nd,1,2\ne,4,\n' });
    expect(result.lines_counted).toBe(2);
    expect(result.findings.map(({ kind, lines }) => [kind, lines[0]])).toEqual([
      ['wrong_columns', 3],
      ['unreadable_amount', 4],
      ['wrong_columns', 5],
    ]);
  });

  it('pairs expenses with statement lines by amount, currency and date', () => {
    const result = reconcileExpenses({
      csv: csv(
        'date,merchant,amount,currency',
        '2025-01-01,A,10,EUR',
        '2025-01-08,B,10,EUR',
        '2025-01-10,C,10,USD',
        '2025-01-10,D,7,EUR',
      ),
      statement_csv: csv(
        'date;details;amount;currency',
        '02.01.2025;a;-10,00;EUR',
        '09.01.2025;b;-10,00;EUR',
        '20.01.2025;d;-7,00;EUR',
      ),
    });
    expect(result.findings.map(({ kind, table, lines }) => [kind, table, lines[0]])).toEqual([
      ['not_on_statement', 'expenses', 4],
      ['not_on_statement', 'expenses', 5],
      ['not_in_expenses', 'statement', 4],
    ]);
  });

  it('pairs by amount alone where one side names no currency, and reads debit and credit columns', () => {
    const input = {
      csv: 'date,amount,currency\n2025-01-01,10,EUR\n2025-01-01,-3,EUR',
      statement_csv: 'date,debit,credit\n2025-01-02,10,\n2025-01-02,,3',
    };
    expect(reconcileExpenses(input)).toMatchObject({ ok: true, findings: [] });
  });

  it('pairs each line once', () => {
    const input = {
      csv: 'date,amount\n2025-01-01,5\n2025-01-02,5',
      statement_csv: 'date,amount\n2025-01-02,5',
    };
    expect(kinds(input)).toEqual(['not_on_statement']);
  });

  it.each([
    [{ csv: '' }, 'empty'],
    [{ csv: '\uFEFF\r\n \r\n' }, 'empty'],
    [{ csv: 'who,what\nme,this' }, 'no amount column. Its header (line 1) has "who", "what"'],
    [{ csv: 'amount\n1', statement_csv: 'nothing\n' }, 'The statement CSV has no amount column'],
    [{}, 'Send the expenses as CSV text'],
  ])('names the fault of %j', (input, message) => {
    const result = reconcileExpenses(input);
    expect(result.ok).toBe(false);
    expect(result.summary).toContain(message);
  });

  it('takes plain text for the expenses', () => {
    expect(reconcileExpenses('amount\n1')).toMatchObject({ ok: true, lines_counted: 1 });
  });

  it('holds column names of the language itself for ordinary text', () => {
    const result = reconcileExpenses({ csv: '__proto__,constructor,amount,category\n1,2,3,__proto__' });
    expect(result.totals).toEqual([
      { currency: 'unspecified', category: '__proto__', count: 1, total: '3.00' },
    ]);
  });

  it('bounds its answer for any size', () => {
    const lines = Array.from({ length: 20_000 }, (_, line) => `2025-01-01,5,c${line},`);
    const input = {
      csv: csv('date,amount,category,receipt', ...lines),
      statement_csv: csv('amount', ...lines.map(() => '5')),
    };
    const result = reconcileExpenses(input);
    expect(result.lines_counted).toBe(20_000);
    expect(result.totals).toHaveLength(200);
    expect(result.totals_omitted).toBe(19_800);
    expect(result.findings).toHaveLength(200);
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
  });

  it('survives a quote that swallows the rest', () => {
    const result = reconcileExpenses({ csv: 'item,amount\n"a,5\nb,6' });
    expect(result).toMatchObject({ ok: true, lines_counted: 0 });
    expect(result.findings.map(({ kind }) => kind)).toEqual(['unclosed_quote', 'wrong_columns']);
  });
});
