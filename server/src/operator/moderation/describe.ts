import type { RecordedAction, ReportedListing } from '../../moderation/index.js';
import { onOneLine } from '../on-one-line.js';

/** The decisions, one a line. */
export function describeActions(actions: readonly RecordedAction[]): string {
  if (actions.length === 0) return 'No decision is on record.';
  return actions
    .map(({ created_at: at, operator, action, subject, reason, signature, details }) =>
      [
        at.toISOString(),
        action.padEnd(15),
        subject,
        `by ${onOneLine(operator)}`,
        ...(details === null ? [] : [JSON.stringify(details)]),
        ...(reason === null ? [] : [`reason: ${onOneLine(reason)}`]),
        ...(signature === null ? [] : [`transaction ${signature}`]),
      ].join('  '),
    )
    .join('\n');
}

/** The queue of reports. Strangers' words are shown as data. */
export function describeReports(listings: readonly ReportedListing[]): string {
  if (listings.length === 0) return 'No report is open.';
  return listings
    .map(({ listing_id: id, title, creator, status, open, closed, reasons, reports }) => {
      const counted = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
      return [
        `${id}  ${open} open (${counted.join(', ')}), ${closed} closed before`,
        `  title    ${onOneLine(title)}`,
        `  creator  ${creator}`,
        `  status   ${status}`,
        ...reports.map(
          ({ created_at: at, wallet, reason, text }) =>
            `  ${at.toISOString()}  ${wallet}  ${reason}${text === '' ? '' : `: ${onOneLine(text)}`}`,
        ),
      ].join('\n');
    })
    .join('\n\n');
}
