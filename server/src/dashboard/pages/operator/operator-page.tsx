import { OPERATOR_PAGE_PATH } from '@agent-rental/contract';
import { elementId } from '../../element-ids.js';
import { renderWalletPage, type WalletPageContext } from '../creator/wallet-page.js';

/** The console of the operator. The page is the same for everyone; the API gives its data to the operator's wallets alone. */
export function operatorPage(context: WalletPageContext): string {
  return renderWalletPage(
    {
      title: 'Operator',
      description: 'The console of the operator of this marketplace.',
      path: OPERATOR_PAGE_PATH,
      part: 'operator',
      intro: <p>For the wallets that OPERATOR_WALLETS names. Your wallet signs each decision.</p>,
    },
    context,
    <>
      <h2>State</h2>
      <dl class="facts" id={elementId('facts')} />
      <div id={elementId('charts')} class="charts" />
      <h2>Reviews</h2>
      <p id={elementId('nothing-waits')} hidden>
        No agent waits for a review.
      </p>
      <ul class="cards" id={elementId('review-list')} />
      <h2>Reports</h2>
      <p id={elementId('no-reports')} hidden>
        No listing has an open report.
      </p>
      <ul class="cards" id={elementId('report-list')} />
      <h2>Find</h2>
      <form id={elementId('find-form')} class="tall">
        <label>
          Id of a run or request, address of a wallet, or listing
          <input id={elementId('find-id')} maxLength={100} required autocomplete="off" />
        </label>
        <button type="submit">Find</button>
      </form>
      <div id={elementId('found')} />
      <h2>Decisions</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Decisions on record">
        <table id={elementId('action-list')} />
      </div>
    </>,
  );
}
