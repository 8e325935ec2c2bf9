import { REPORT_CHARACTERS, REPORT_REASONS, type ReportReason } from '@agent-rental/contract';
import { elementId } from '../../element-ids.js';
import type { PageChain } from '../page.js';

const WORDS: Readonly<Record<ReportReason, string>> = {
  fraud: 'It cheats',
  harmful: 'It does harm',
  illegal: 'It is illegal',
  copied: 'It copies another agent',
  broken: 'It does not work',
  other: 'Another reason',
};

/** Reports a listing to the operator. The script shows it, as it shows reviews, since a wallet logs in. */
export function ReportSection({ listingId, chain }: { listingId: string; chain: PageChain }) {
  return (
    <section id="report" hidden data-listing={listingId} {...chain}>
      <details>
        <summary>Report it to the operator</summary>
        <form id="report-form" class="tall">
          <label>
            Reason
            <select id={elementId('report-reason')}>
              {REPORT_REASONS.map((reason) => (
                <option key={reason} value={reason}>
                  {WORDS[reason]}
                </option>
              ))}
            </select>
          </label>
          <label>
            What happened, for the operator alone
            <textarea id={elementId('report-text')} rows={4} maxLength={REPORT_CHARACTERS} />
          </label>
          <p class="wallets" />
        </form>
        <p role="status" class="said" />
      </details>
    </section>
  );
}
