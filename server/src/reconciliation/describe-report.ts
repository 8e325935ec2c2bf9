import { DIFFERENCES, type Difference, type ReconciliationReport } from './differences.js';

/** A report for people: the extent of the comparison, and a line for each difference. */
export function describeReport(
  { accounts, balances, repaired, open }: ReconciliationReport,
  isDryRun: boolean,
): string {
  const lines = [`Compared ${accounts} accounts and the charges of ${balances} balances.`];
  for (const difference of repaired) lines.push(`repaired  ${describe(difference)}`);
  for (const difference of open) {
    const { repair } = DIFFERENCES[difference.kind];
    lines.push(`${isDryRun && repair ? 'would be repaired' : 'OPEN     '} ${describe(difference)}`);
  }
  if (repaired.length + open.length === 0) lines.push('Database and chain agree.');
  return `${lines.join('\n')}\n`;
}

function describe({ kind, address, run_id: runId, signature, lamports }: Difference): string {
  const about = [
    `account ${address}`,
    runId && `run ${runId}`,
    signature && `transaction ${signature}`,
    lamports !== undefined && `${lamports} lamports`,
  ];
  return `${kind}: ${DIFFERENCES[kind].says} (${about.filter(Boolean).join(', ')})`;
}

/** A report as one JSON object; lamports are strings, exact to the lamport. */
export function toJson(report: ReconciliationReport): string {
  return JSON.stringify(report, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}
