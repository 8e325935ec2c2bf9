/**
 * The expense reconciler's program. Every function here is lifted into the agent's prompt as text and runs in the sandbox.
 * So each is a declaration that uses only the others and the language. They are in one file because an import would not be
 * lifted with them.
 */

/** One finding for a person to check. `lines` are line numbers in the CSV text, the header's being 1. */
interface Finding {
  kind: string;
  table: 'expenses' | 'statement';
  lines: number[];
  message: string;
}

/** The program's answer. Amounts are exact decimal strings, in the currency beside them. */
interface Reconciliation {
  ok: boolean;
  summary: string;
  lines_counted: number;
  totals: { currency: string; category: string; count: number; total: string }[];
  totals_omitted: number;
  findings: Finding[];
  findings_omitted: number;
}

interface CsvRecord {
  line: number;
  cells: string[];
}

/** An amount in ten-thousandths, so that sums are exact in every currency. */
interface Amount {
  units: bigint;
  currency: string;
}

interface Entry {
  line: number;
  date: string;
  day: number | undefined;
  description: string;
  category: string;
  currency: string;
  units: bigint;
  receipt: string | undefined;
}

interface Table {
  problem: string;
  entries: Entry[];
  findings: Finding[];
}

/** Splits CSV text (RFC 4180, any of `,` `;` tab as delimiter, any line ending) into records. */
export function parseCsv(source: string): { records: CsvRecord[]; delimiter: string; unclosed: number } {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const header =
    text
      .slice(0, 10_000)
      .trimStart()
      .split(/[\r\n]/, 1)[0] ?? '';
  let delimiter = ',';
  for (const candidate of [';', '\t']) {
    if (header.split(candidate).length > header.split(delimiter).length) delimiter = candidate;
  }
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let cell = '';
  let quoted = false;
  let line = 1;
  let startLine = 1;
  let quoteLine = 0;
  const endRecord = () => {
    cells.push(cell);
    if (cells.length > 1 || cells[0]?.trim() !== '') records.push({ line: startLine, cells });
    cells = [];
    cell = '';
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quoted) {
      if (character !== '"') {
        if (character === '\n' || (character === '\r' && text.charAt(at + 1) !== '\n')) line += 1;
        cell += character;
      } else if (text.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else {
        quoted = false;
      }
    } else if (character === '"' && cell.length < 20 && cell.trim() === '') {
      cell = '';
      quoted = true;
      quoteLine = line;
    } else if (character === delimiter) {
      cells.push(cell);
      cell = '';
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && text.charAt(at + 1) === '\n') at += 1;
      endRecord();
      line += 1;
      startLine = line;
    } else {
      cell += character;
    }
  }
  endRecord();
  return { records, delimiter, unclosed: quoted ? quoteLine : 0 };
}

/** Which column plays which part, by the names that exports of expense tools and banks use. */
export function findColumns(header: string[]): Map<string, number> {
  const names: [string, string[]][] = [
    ['date', ['date', 'transaction date', 'expense date', 'posting date', 'booking date', 'posted']],
    [
      'description',
      ['merchant', 'vendor', 'supplier', 'payee', 'description', 'details', 'narrative', 'item'],
    ],
    ['amount', ['amount', 'total', 'gross', 'gross amount', 'total amount', 'value']],
    ['debit', ['debit', 'paid out', 'money out', 'withdrawal']],
    ['credit', ['credit', 'paid in', 'money in', 'deposit']],
    ['category', ['category', 'type', 'account', 'cost centre', 'cost center']],
    ['currency', ['currency', 'ccy', 'currency code']],
    [
      'receipt',
      ['receipt', 'receipt id', 'receipt no', 'receipt number', 'invoice', 'invoice no', 'document'],
    ],
    ['net', ['net', 'net amount', 'subtotal']],
    ['tax', ['tax', 'vat', 'gst', 'tax amount', 'vat amount']],
    ['quantity', ['quantity', 'qty', 'units']],
    ['unit price', ['unit price', 'price', 'rate']],
  ];
  const normal = header.map((cell) =>
    cell
      .toLowerCase()
      .replace(/[^a-z]+/g, ' ')
      .trim(),
  );
  const columns = new Map<string, number>();
  for (const [part, aliases] of names) {
    for (const alias of aliases) {
      const at = normal.indexOf(alias);
      if (at >= 0 && !columns.has(part)) columns.set(part, at);
    }
  }
  return columns;
}

/** Reads an amount as people write it: `-1,234.50`, `(12.00)`, `EUR 12,5`, `€ 1.234,50`. */
export function readAmount(written: string, decimalComma: boolean): Amount | undefined {
  const text = written.trim().replace(/[\u2212\u2013]/g, '-');
  if (text.length > 40) return undefined;
  const parts =
    /^(\()?([+-])?\s*([A-Z]{3}|[$€£¥])?\s*([+-])?\s*(\d[\d.,'\u2019\s]*)([A-Z]{3}|[$€£¥])?(-)?(\))?$/.exec(
      text,
    );
  if (parts === null || (parts[1] === undefined) !== (parts[8] === undefined)) return undefined;
  let digits = (parts[5] ?? '').replace(/['\u2019\s]/g, '');
  const commaIsDecimal = decimalComma
    ? /^(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$/.test(digits)
    : /^\d+,\d{1,2}$/.test(digits) || /^\d{1,3}(\.\d{3})+,\d+$/.test(digits);
  if (commaIsDecimal) digits = digits.replaceAll('.', '').replace(',', '.');
  else if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(digits)) digits = digits.replaceAll(',', '');
  const number = /^(\d+)(?:\.(\d{1,4}))?$/.exec(digits);
  if (number === null) return undefined;
  const units = BigInt((number[1] ?? '') + (number[2] ?? '').padEnd(4, '0'));
  const symbols = new Map([
    ['$', 'USD'],
    ['€', 'EUR'],
    ['£', 'GBP'],
    ['¥', 'JPY'],
  ]);
  const mark = parts[3] ?? parts[6] ?? '';
  const negative = parts[1] === '(' || parts[2] === '-' || parts[4] === '-' || parts[7] === '-';
  return { units: negative ? -units : units, currency: symbols.get(mark) ?? mark };
}

/** Writes ten-thousandths as a decimal with at least two places. */
export function writeAmount(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(5, '0');
  const fraction = digits.slice(-4).replace(/0{1,2}$/, '');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -4)}.${fraction}`;
}

/** Reads a date as the number of its day; undefined when it is none. */
export function readDay(written: string, monthFirst: boolean): number | undefined {
  const text = written.trim();
  let parts = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].{0,30})?$/.exec(text);
  let [year, month, day] = [Number(parts?.[1]), Number(parts?.[2]), Number(parts?.[3])];
  if (parts === null) {
    parts = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$/.exec(text);
    if (parts !== null) {
      year = Number(parts[3]);
      month = Number(parts[monthFirst ? 1 : 2]);
      day = Number(parts[monthFirst ? 2 : 1]);
    }
  }
  if (parts === null) {
    parts = /^(\d{1,2})[ -]([A-Za-z]{3})[a-z]{0,6}[ -](\d{4})$/.exec(text);
    if (parts === null) return undefined;
    const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
    year = Number(parts[3]);
    month = months.indexOf((parts[2] ?? '').toLowerCase()) + 1;
    day = Number(parts[1]);
  }
  const time = Date.UTC(year, month - 1, day);
  const real = new Date(time);
  return real.getUTCMonth() === month - 1 && real.getUTCDate() === day ? time / 86_400_000 : undefined;
}

/** Reads one CSV table into entries, noting unreadable lines and wrong sums. */
export function readTable(source: string, table: 'expenses' | 'statement'): Table {
  const { records, delimiter, unclosed } = parseCsv(source);
  const findings: Finding[] = [];
  const note = (kind: string, lines: number[], message: string) =>
    findings.push({ kind, table, lines, message });
  const header = records[0];
  if (header === undefined) {
    return {
      problem: `The ${table} CSV is empty. Send a header line and one line per entry.`,
      entries: [],
      findings,
    };
  }
  const columns = findColumns(header.cells);
  if (!columns.has('amount') && !columns.has('debit') && !columns.has('credit')) {
    const found = header.cells.slice(0, 20).map((cell) => `"${cell.trim().slice(0, 40)}"`);
    const problem =
      `The ${table} CSV has no amount column. Its header (line ${header.line}) has ${found.join(', ')}; ` +
      'name one column amount, total, gross or value.';
    return { problem, entries: [], findings };
  }
  if (unclosed > 0) note('unclosed_quote', [unclosed], `A quoted field opens here and never closes.`);

  const decimalComma = delimiter === ';';
  const cellOf = (record: CsvRecord, part: string) => record.cells[columns.get(part) ?? -1]?.trim() ?? '';
  const dates = records.slice(1).map((record) => cellOf(record, 'date'));
  const monthFirst =
    dates.some((date) => /^\d{1,2}\/(1[3-9]|2\d|3[01])\/\d{4}$/.test(date)) &&
    !dates.some((date) => /^(1[3-9]|2\d|3[01])\/\d{1,2}\/\d{4}$/.test(date));

  const entries: Entry[] = [];
  const sums = new Map<string, bigint>();
  for (const record of records.slice(1)) {
    const { line, cells } = record;
    if (cells.every((cell) => cell.trim() === '')) continue;
    const amountOf = (part: string) => readAmount(cellOf(record, part), decimalComma);
    const label = cells.map((cell) => cell.trim()).find((cell) => cell !== '') ?? '';
    const isTotal = /^(grand |sub)?total:?$/i.test(label);
    const width = header.cells.length;
    if (!isTotal && (cells.length < width || cells.slice(width).some((cell) => cell.trim() !== ''))) {
      const message = `Has ${cells.length} fields where the header has ${width}; not counted.`;
      note('wrong_columns', [line], message);
      continue;
    }
    let amount = amountOf('amount');
    if (amount === undefined && !columns.has('amount')) {
      const [credit, debit] = [amountOf('credit'), amountOf('debit')];
      if (credit !== undefined || debit !== undefined) {
        const units = (credit?.units ?? 0n) - (debit?.units ?? 0n);
        amount = { units, currency: credit?.currency || debit?.currency || '' };
      }
    }
    if (isTotal) {
      if (/^sub/i.test(label)) continue;
      for (const cell of cells) amount ??= readAmount(cell, decimalComma);
      const currency = cellOf(record, 'currency').toUpperCase() || amount?.currency || '';
      const known = sums.size === 1 && currency === '' ? [...sums.values()][0] : sums.get(currency);
      if (known === undefined && sums.size > 1) {
        note('mixed_total', [line], `The total is of ${sums.size} currencies together.`);
      } else if (amount !== undefined && known !== undefined && amount.units !== known) {
        const message = `The stated total is ${writeAmount(amount.units)}, the lines above add up to ${writeAmount(known)}.`;
        note('total_mismatch', [line], message);
      }
      continue;
    }
    if (amount === undefined) {
      const written = cellOf(record, columns.has('amount') ? 'amount' : 'debit').slice(0, 40);
      note('unreadable_amount', [line], `"${written}" is not an amount; not counted.`);
      continue;
    }
    const date = cellOf(record, 'date');
    const day = readDay(date, monthFirst);
    if (columns.has('date') && day === undefined) {
      note(
        'invalid_date',
        [line],
        date === '' ? 'The date is missing.' : `"${date.slice(0, 40)}" is not a date.`,
      );
    }
    const [net, tax] = [amountOf('net'), amountOf('tax')];
    if (net !== undefined && tax !== undefined) {
      const sum = net.units + tax.units;
      const apart = sum > amount.units ? sum - amount.units : amount.units - sum;
      if (apart >= 100n) {
        const message = `Net ${writeAmount(net.units)} plus tax ${writeAmount(tax.units)} is ${writeAmount(sum)}, not ${writeAmount(amount.units)}.`;
        note('arithmetic_mismatch', [line], message);
      }
    }
    const [quantity, price] = [amountOf('quantity'), amountOf('unit price')];
    if (quantity !== undefined && price !== undefined) {
      const product = (quantity.units * price.units) / 10_000n;
      const expected = net ?? amount;
      const apart = product > expected.units ? product - expected.units : expected.units - product;
      if (apart >= 100n) {
        const message = `${writeAmount(quantity.units)} at ${writeAmount(price.units)} is ${writeAmount(product)}, not ${writeAmount(expected.units)}.`;
        note('arithmetic_mismatch', [line], message);
      }
    }
    const currency = cellOf(record, 'currency').toUpperCase() || amount.currency;
    sums.set(currency, (sums.get(currency) ?? 0n) + amount.units);
    entries.push({
      line,
      date,
      day,
      description: cellOf(record, 'description'),
      category: cellOf(record, 'category') || 'uncategorised',
      currency,
      units: amount.units,
      receipt: columns.has('receipt') ? cellOf(record, 'receipt') : undefined,
    });
  }
  return { problem: '', entries, findings };
}

/** Duplicate entries, receipts that are used twice or missing. */
export function checkReceipts(entries: Entry[]): Finding[] {
  const findings: Finding[] = [];
  const same = new Map<string, Entry[]>();
  const receipts = new Map<string, Entry[]>();
  const add = (groups: Map<string, Entry[]>, key: string, entry: Entry) => {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  };
  for (const entry of entries) {
    const merchant = entry.description.toLowerCase();
    const when = entry.day ?? entry.date;
    add(same, JSON.stringify([when, merchant, entry.currency, `${entry.units}`]), entry);
    if (entry.receipt === undefined) continue;
    if (/^(no|none|missing|n\/a|false|-|\?)?$/i.test(entry.receipt)) {
      const message = `No receipt for ${writeAmount(entry.units)} ${entry.currency} (${entry.description.slice(0, 60)}).`;
      findings.push({ kind: 'missing_receipt', table: 'expenses', lines: [entry.line], message });
    } else if (!/^(yes|y|true|x|ok)$/i.test(entry.receipt)) {
      add(receipts, entry.receipt.toLowerCase(), entry);
    }
  }
  for (const group of same.values()) {
    const first = group[0];
    if (first === undefined || group.length < 2) continue;
    const lines = group.slice(0, 50).map((entry) => entry.line);
    const message = `${group.length} entries of ${writeAmount(first.units)} ${first.currency} on ${first.date} for "${first.description.slice(0, 60)}".`;
    findings.push({ kind: 'duplicate', table: 'expenses', lines, message });
  }
  for (const group of receipts.values()) {
    const first = group[0];
    if (first === undefined || group.length < 2) continue;
    const lines = group.slice(0, 50).map((entry) => entry.line);
    const message = `Receipt "${(first.receipt ?? '').slice(0, 60)}" is used by ${group.length} entries.`;
    findings.push({ kind: 'duplicate_receipt', table: 'expenses', lines, message });
  }
  return findings;
}

/**
 * Pairs expenses with statement lines of the same amount (signs aside) and currency (where both say one), at most 7 days
 * apart. Notes the unpaired entries of either side. Both sides are walked in order of date, which gives the most pairs.
 */
export function matchStatement(expenses: Entry[], statement: Entry[]): Finding[] {
  const findings: Finding[] = [];
  const oneCurrency = [expenses, statement].some((side) => side.every((entry) => entry.currency === ''));
  const groups = new Map<string, { expenses: Entry[]; statement: Entry[] }>();
  const keyOf = (entry: Entry) =>
    `${entry.units < 0n ? -entry.units : entry.units} ${oneCurrency ? '' : entry.currency}`;
  const groupOf = (entry: Entry) => {
    const key = keyOf(entry);
    const group = groups.get(key) ?? { expenses: [], statement: [] };
    groups.set(key, group);
    return group;
  };
  for (const entry of expenses) groupOf(entry).expenses.push(entry);
  for (const entry of statement) groupOf(entry).statement.push(entry);

  const unpaired = (entry: Entry, table: 'expenses' | 'statement') => {
    const what = `${writeAmount(entry.units)} ${entry.currency} on ${entry.date || 'no date'} (${entry.description.slice(0, 60)})`;
    findings.push(
      table === 'expenses'
        ? {
            kind: 'not_on_statement',
            table,
            lines: [entry.line],
            message: `${what} is not on the statement.`,
          }
        : { kind: 'not_in_expenses', table, lines: [entry.line], message: `${what} has no expense.` },
    );
  };
  const dayOf = (entry: Entry) => entry.day ?? Number.NaN;
  for (const group of groups.values()) {
    const byDay = (a: Entry, b: Entry) => (a.day ?? Infinity) - (b.day ?? Infinity) || a.line - b.line;
    const left = group.expenses.sort(byDay);
    const right = group.statement.sort(byDay);
    let at = 0;
    for (const entry of left) {
      while (at < right.length && dayOf(right[at]!) < dayOf(entry) - 7) unpaired(right[at++]!, 'statement');
      const candidate = right[at];
      // A missing date compares as "not more than 7 days apart": the amount alone has to do.
      if (candidate !== undefined && !(dayOf(candidate) > dayOf(entry) + 7)) at += 1;
      else unpaired(entry, 'expenses');
    }
    for (const rest of right.slice(at)) unpaired(rest, 'statement');
  }
  return findings;
}

/** The program: `input` is `{csv, statement_csv?}`; whatever else arrives gets a message, never an exception. */
export function reconcileExpenses(input: unknown): Reconciliation {
  const fail = (summary: string): Reconciliation => ({
    ok: false,
    summary,
    lines_counted: 0,
    totals: [],
    totals_omitted: 0,
    findings: [],
    findings_omitted: 0,
  });
  const given = typeof input === 'string' ? { csv: input } : input;
  const { csv, statement_csv: statementCsv } = Object(given) as { csv?: unknown; statement_csv?: unknown };
  if (typeof csv !== 'string')
    return fail('Send the expenses as CSV text: {"csv": "date,merchant,amount\\n..."}.');
  const expenses = readTable(csv, 'expenses');
  if (expenses.problem !== '') return fail(expenses.problem);

  let findings = expenses.findings.concat(checkReceipts(expenses.entries));
  let compared = '';
  if (typeof statementCsv === 'string' && statementCsv.trim() !== '') {
    const statement = readTable(statementCsv, 'statement');
    if (statement.problem !== '') return fail(statement.problem);
    findings = findings.concat(statement.findings, matchStatement(expenses.entries, statement.entries));
    compared = ` compared with ${statement.entries.length} statement lines`;
  }
  findings.sort((a, b) => a.table.localeCompare(b.table) || (a.lines[0] ?? 0) - (b.lines[0] ?? 0));

  const groups = new Map<string, { currency: string; category: string; count: number; units: bigint }>();
  for (const { currency, category, units } of expenses.entries) {
    const key = JSON.stringify([currency, category]);
    const group = groups.get(key) ?? { currency, category, count: 0, units: 0n };
    groups.set(key, { ...group, count: group.count + 1, units: group.units + units });
  }
  const totals = [...groups.values()]
    .sort((a, b) => (a.currency + a.category < b.currency + b.category ? -1 : 1))
    .map(({ currency, category, count, units }) => ({
      currency: currency || 'unspecified',
      category: category.slice(0, 100),
      count,
      total: writeAmount(units),
    }));
  const counts = new Map<string, number>();
  for (const { kind } of findings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const told = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ') || 'nothing to look at';
  return {
    ok: true,
    summary: `${expenses.entries.length} expenses${compared}: ${told}.`,
    lines_counted: expenses.entries.length,
    totals: totals.slice(0, 200),
    totals_omitted: Math.max(0, totals.length - 200),
    findings: findings.slice(0, 200),
    findings_omitted: Math.max(0, findings.length - 200),
  };
}
